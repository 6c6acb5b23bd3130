import type { CachedAnswer, IdempotencyCache } from "../port.ts";
import { ExpiringMap } from "./expiring-map.ts";

/** The database holds every answer; the cache only needs the recent ones. */
const ENTRIES_MAX = 10_000;
const CHARACTERS_MAX = 16 * 1024 * 1024;

type Cached = CachedAnswer | "in_flight";

export interface LocalIdempotencyCacheOptions {
  readonly monotonicMs: () => number;
  readonly entriesMax?: number;
  readonly charactersMax?: number;
}

/** Keeps the newest answers within a bound on their number and on their size. */
export function createLocalIdempotencyCache({
  monotonicMs,
  entriesMax = ENTRIES_MAX,
  charactersMax = CHARACTERS_MAX,
}: LocalIdempotencyCacheOptions): IdempotencyCache {
  let characters = 0;
  const cached = new ExpiringMap<Cached>({
    monotonicMs,
    onLeave: (value) => {
      characters -= sizeOf(value);
    },
  });

  const isFull = (): boolean => cached.size > entriesMax || characters > charactersMax;

  function store(key: string, value: Cached, ttlMs: number): void {
    characters += sizeOf(value);
    cached.set(key, value, ttlMs);
    while (isFull()) cached.deleteOldest();
  }

  return {
    async get(key) {
      return cached.get(key) ?? null;
    },
    async begin(key, ttlMs) {
      if (cached.get(key) !== undefined) return false;
      store(key, "in_flight", ttlMs);
      return true;
    },
    async answer(key, value, ttlMs) {
      store(key, value, ttlMs);
    },
    async abandon(key) {
      if (cached.get(key) === "in_flight") cached.delete(key);
    },
  };
}

function sizeOf(value: Cached): number {
  return value === "in_flight" ? 0 : value.fingerprint.length + value.answer.length;
}
