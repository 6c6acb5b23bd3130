/**
 * Coordination of one process that runs alone. Everything lives in its memory and ends
 * with it, which the port allows: the database decides.
 */
import type { Coordination } from "../port.ts";
import { createWakeUpHub } from "../wake-up-hub.ts";
import { createLocalClaimClock } from "./claim-clock.ts";
import { createLocalCounters } from "./counters.ts";
import { createLocalIdempotencyCache } from "./idempotency-cache.ts";
import { createLocalSingleUses } from "./single-uses.ts";

export interface LocalCoordinationOptions {
  /** Real time for windows and for collecting garbage. */
  readonly monotonicMs?: () => number;
}

/** One process' own coordination; it shares nothing with any other. */
export function createLocalCoordination({
  monotonicMs = () => performance.now(),
}: LocalCoordinationOptions = {}): Coordination {
  const hub = createWakeUpHub();
  return {
    claimClock: createLocalClaimClock(monotonicMs),
    idempotency: createLocalIdempotencyCache({ monotonicMs }),
    wakeUps: { ticket: (topics) => hub.ticket(topics), publish: (topics) => hub.wake(topics) },
    counters: createLocalCounters(monotonicMs),
    singleUses: createLocalSingleUses(monotonicMs),
    async health() {
      return { state: "up" };
    },
    async close() {
      hub.close();
    },
  };
}
