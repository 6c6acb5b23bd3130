import type { SingleUses } from "../port.ts";
import { ExpiringMap } from "./expiring-map.ts";

/** Remembers for as long as the process lives; `redis/single-uses.ts` says the same in Lua. */
export function createLocalSingleUses(monotonicMs: () => number): SingleUses {
  const purposes = new ExpiringMap<string>({ monotonicMs });
  let memorySinceMs: number | undefined;
  return {
    async use({ key, purpose, madeAtMs, lifeMs }, nowMs) {
      // Memory begins with the first call: only calls know the database's time.
      memorySinceMs ??= nowMs;
      const known = purposes.get(key);
      if (known !== undefined) return known === purpose ? "again" : "spent";
      if (madeAtMs < memorySinceMs) return "unknown";
      purposes.set(key, purpose, lifeMs);
      return "fresh";
    },
  };
}
