/**
 * Claims that wait for something to claim. A waiter holds no connection and no lock: it
 * takes a ticket, tries, and sleeps until something is published, until the first wait or
 * claim that stands in its way ends, and for a few seconds at most, since a wake-up may
 * be lost. Waiters with the same predicate that wake together share one selection.
 */
import type { EngineDeps } from "../deps.ts";
import { CLAIMABLE } from "../writing/transact.ts";
import type { ClaimedOne } from "./claim-one.ts";

/** A missed wake-up costs at most this. */
const PACE_MS = 5_000;

export interface Waiters {
  /** Tries until there is a result, the time is up, the caller is gone, or the process drains. */
  until(waitMs: number, signal: AbortSignal, attempt: () => Promise<ClaimedOne>): Promise<ClaimedOne>;
  /** How many are waiting. */
  readonly size: number;
  /** Answers everybody with what they have, and lets nobody wait any more. */
  drain(): void;
}

export function createWaiters(deps: EngineDeps): Waiters {
  const draining = new AbortController();
  let size = 0;

  const wait = async (
    deadline: number,
    signal: AbortSignal,
    attempt: () => Promise<ClaimedOne>,
  ): Promise<ClaimedOne> => {
    const ticket = deps.coordination.wakeUps.ticket([CLAIMABLE]);
    const stop = AbortSignal.any([signal, draining.signal]);
    try {
      for (;;) {
        const claimed = await attempt();
        const left = deadline - performance.now();
        if (!claimed.empty || left <= 0 || stop.aborted) return claimed;
        // With jitter, so that waiters that were woken together do not stay in step.
        const pace = PACE_MS * (0.75 + deps.random() / 4);
        const untilNext = claimed.nextAt === null ? pace : claimed.nextAt - (await deps.time.now());
        await ticket.wait(Math.max(10, Math.min(pace, untilNext, left)), stop);
      }
    } finally {
      ticket.close();
    }
  };

  return {
    get size() {
      return size;
    },
    async until(waitMs, signal, attempt) {
      // Above the cap nobody waits: an answer now, with the time to come back, is the cheaper thing.
      if (waitMs <= 0 || size >= deps.settings.maxWaiters || draining.signal.aborted) return await attempt();
      size += 1;
      try {
        return await wait(performance.now() + waitMs, signal, attempt);
      } finally {
        size -= 1;
      }
    },
    drain() {
      draining.abort();
    },
  };
}
