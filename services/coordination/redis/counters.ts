/** Fixed windows shared through Redis; each process counts alone while Redis is away. */
import type { Counters } from "../port.ts";
import type { SessionWatch } from "./session.ts";

/** ARGV: limit, window, cost. Answers allowed, used and what is left of the window. */
const TAKE = `#!lua
local limit, window, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
local left = redis.call('PTTL', KEYS[1])
if used + cost > limit then return {0, used, left} end
if cost > 0 then
  used = redis.call('INCRBY', KEYS[1], ARGV[3])
  if left < 0 then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
    left = window
  end
end
return {1, used, left}
`;

export const COUNTER_SCRIPTS = {
  musterCounterTake: { lua: TAKE, numberOfKeys: 1 },
};

export interface CounterCommands {
  readonly musterCounterTake: (
    key: string,
    limit: number,
    windowMs: number,
    cost: number,
  ) => Promise<unknown>;
}

export interface RedisCountersDeps {
  readonly redis: CounterCommands;
  readonly sessions: Pick<SessionWatch, "current">;
  readonly prefix: string;
  /** Counts while Redis is away. */
  readonly fallback: Counters;
}

export function createRedisCounters({ redis, sessions, prefix, fallback }: RedisCountersDeps): Counters {
  return {
    async take(key, limit, windowMs, cost) {
      if (!sessions.current()) return fallback.take(key, limit, windowMs, cost);
      try {
        const reply = await redis.musterCounterTake(`${prefix}count:${key}`, limit, windowMs, cost);
        const [allowed, used, leftMs] = Array.isArray(reply) ? reply.map(Number) : [];
        if (allowed === undefined || used === undefined || leftMs === undefined) {
          return await fallback.take(key, limit, windowMs, cost);
        }
        return {
          allowed: allowed === 1,
          remaining: Math.max(0, limit - used),
          // Redis rounds the last moment of a window down to nothing.
          resetMs: leftMs < 0 ? windowMs : leftMs,
        };
      } catch {
        return fallback.take(key, limit, windowMs, cost);
      }
    },
  };
}
