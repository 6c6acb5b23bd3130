/**
 * How many calls one credential, or one address, may make in a minute, counted for all replicas
 * together. A replica takes calls from the shared count in portions, since asking for each would
 * cost as much as many calls do; so up to a portion per replica of a minute's calls may go unused.
 */
import type { Counters } from "../../coordination/port.ts";

const WINDOW_MS = 60_000;
/** A portion is this part of the limit, and never more than the number below. */
const PORTIONS = 200;
const PORTION_MAX = 100;
const KEYS_MAX = 10_000;

export interface RateLimit {
  /** Takes one call. Null if it may be made, else how long to wait, and whether this is the first refusal of its window. */
  take(key: string): Promise<{ readonly waitMs: number; readonly first: boolean } | null>;
}

interface Bucket {
  left: number;
  untilMs: number;
  refused: boolean;
}

export interface RateLimitOptions {
  readonly counters: Counters;
  /** Which limit this is, in the keys of the shared counts. */
  readonly name: string;
  readonly perMinute: number;
  readonly monotonicMs?: () => number;
}

export function createRateLimit({
  counters,
  name,
  perMinute,
  monotonicMs = () => performance.now(),
}: RateLimitOptions): RateLimit {
  const buckets = new Map<string, Bucket>();
  const portion = Math.min(PORTION_MAX, Math.max(1, Math.floor(perMinute / PORTIONS)));

  async function fill(key: string): Promise<Bucket> {
    let cost = portion;
    for (;;) {
      const taken = await counters.take(`${name}:${key}`, perMinute, WINDOW_MS, cost);
      const bucket: Bucket = {
        left: taken.allowed ? cost : 0,
        untilMs: monotonicMs() + taken.resetMs,
        refused: false,
      };
      // The rest of a window may be less than a portion.
      if (taken.allowed || taken.remaining < 1 || cost === 1) return bucket;
      cost = Math.min(cost - 1, taken.remaining);
    }
  }

  return {
    async take(key) {
      let bucket = buckets.get(key);
      if (bucket === undefined || bucket.untilMs <= monotonicMs() || (bucket.left === 0 && !bucket.refused)) {
        const filled = await fill(key);
        // Others may have filled it meanwhile; what they took is not lost.
        const known = buckets.get(key);
        if (known !== undefined && known.untilMs > monotonicMs()) filled.left += known.left;
        if (buckets.size >= KEYS_MAX) forgetOld(buckets, monotonicMs());
        buckets.set(key, (bucket = filled));
      }
      if (bucket.left > 0) {
        bucket.left -= 1;
        return null;
      }
      const first = !bucket.refused;
      bucket.refused = true;
      return { waitMs: Math.max(1, Math.ceil(bucket.untilMs - monotonicMs())), first };
    },
  };
}

function forgetOld(buckets: Map<string, Bucket>, nowMs: number): void {
  for (const [key, bucket] of buckets) if (bucket.untilMs <= nowMs) buckets.delete(key);
  if (buckets.size >= KEYS_MAX) buckets.clear();
}
