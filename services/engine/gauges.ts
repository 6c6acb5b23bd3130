/** The numbers of a fleet that only its database knows, for whoever watches it. */
import type { Handle } from "../../db/statement.ts";
import { countFleet, countReady, type FleetCounts, type ReadyCount } from "../../db/stores/gauge-store.ts";

export interface Gauges extends FleetCounts {
  readonly ready: readonly ReadyCount[];
}

/** Counting is not free, and more than one may ask. */
const KEPT_MS = 5_000;

/** Answers the same for a few seconds. */
export function createGauges(db: Handle, keptMs = KEPT_MS): () => Promise<Gauges> {
  let kept: { readonly at: number; readonly gauges: Promise<Gauges> } | null = null;
  const read = async (): Promise<Gauges> => {
    const [counts, ready] = await Promise.all([countFleet(db), countReady(db)]);
    return { ...counts, ready };
  };
  return async () => {
    const now = performance.now();
    if (kept === null || now - kept.at >= keptMs) kept = { at: now, gauges: read() };
    try {
      return await kept.gauges;
    } catch (error) {
      kept = null;
      throw error;
    }
  };
}
