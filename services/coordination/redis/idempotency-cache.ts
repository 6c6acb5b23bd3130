/**
 * Cached answers in Redis, one string per key: `F` and the marking process while the
 * answer is being made, `A<length>:<fingerprint><answer>` afterwards. The length spares
 * escaping an answer that is JSON already.
 */
import type { Redis } from "ioredis";
import type { CachedAnswer, IdempotencyCache } from "../port.ts";
import type { SessionWatch } from "./session.ts";

/** Takes a marker back unless it is somebody else's, or an answer by now. */
const ABANDON = `#!lua
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
`;

export const IDEMPOTENCY_SCRIPTS = {
  musterIdempotencyAbandon: { lua: ABANDON, numberOfKeys: 1 },
};

export interface IdempotencyCommands {
  readonly musterIdempotencyAbandon: (key: string, marker: string) => Promise<unknown>;
}

export interface RedisIdempotencyCacheDeps {
  readonly redis: Pick<Redis, "get" | "set"> & IdempotencyCommands;
  readonly sessions: Pick<SessionWatch, "current">;
  readonly prefix: string;
  /** Names this process in its markers. */
  readonly instanceId: string;
}

export function createRedisIdempotencyCache({
  redis,
  sessions,
  prefix,
  instanceId,
}: RedisIdempotencyCacheDeps): IdempotencyCache {
  const marker = `F${instanceId}`;
  const keyOf = (key: string): string => `${prefix}idempotency:${key}`;

  /** Every failure of Redis means the same: as if the cache had been empty. */
  async function attempt<T>(call: () => Promise<T>, otherwise: T): Promise<T> {
    if (!sessions.current()) return otherwise;
    try {
      return await call();
    } catch {
      return otherwise;
    }
  }

  return {
    get: (key) => attempt(async () => parse(await redis.get(keyOf(key))), null),
    begin: (key, ttlMs) =>
      attempt(async () => (await redis.set(keyOf(key), marker, "PX", lifeMs(ttlMs), "NX")) === "OK", true),
    answer: (key, value, ttlMs) =>
      attempt(async () => {
        await redis.set(keyOf(key), format(value), "PX", lifeMs(ttlMs));
      }, undefined),
    abandon: (key) =>
      attempt(async () => {
        await redis.musterIdempotencyAbandon(keyOf(key), marker);
      }, undefined),
  };
}

/** Redis refuses a life that is not a positive integer. */
function lifeMs(ttlMs: number): number {
  return Math.max(1, Math.ceil(ttlMs));
}

function format({ fingerprint, answer }: CachedAnswer): string {
  return `A${fingerprint.length}:${fingerprint}${answer}`;
}

function parse(text: string | null): CachedAnswer | "in_flight" | null {
  if (text === null) return null;
  if (text.startsWith("F")) return "in_flight";
  const header = /^A(\d+):/.exec(text);
  if (!header) return null;
  const start = header[0].length;
  const end = start + Number(header[1]);
  return { fingerprint: text.slice(start, end), answer: text.slice(end) };
}
