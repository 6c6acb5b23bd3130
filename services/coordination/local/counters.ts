import type { CountResult, Counters } from "../port.ts";
import { ExpiringMap } from "./expiring-map.ts";

/** Fixed windows in the memory of one process; also what a fleet falls back to. */
export function createLocalCounters(monotonicMs: () => number): Counters {
  const windows = new ExpiringMap<{ used: number }>({ monotonicMs });

  function takeNow(key: string, limit: number, windowMs: number, cost: number): CountResult {
    const open = windows.get(key);
    const used = open?.used ?? 0;
    const allowed = used + cost <= limit;
    if (allowed && open) open.used += cost;
    else if (allowed && cost > 0) windows.set(key, { used: cost }, windowMs);
    return {
      allowed,
      remaining: Math.max(0, limit - used - (allowed ? cost : 0)),
      resetMs: windows.get(key) ? Math.ceil(windows.msLeft(key)) : windowMs,
    };
  }

  return {
    async take(key, limit, windowMs, cost) {
      return takeNow(key, limit, windowMs, cost);
    },
  };
}
