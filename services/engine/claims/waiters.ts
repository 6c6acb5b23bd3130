/**
 * Calls that wait for something to happen: claims for something to claim, orchestrators for an end. A waiter holds no connection and no lock: it
 * takes a ticket, tries, and sleeps until something is published, until the first wait or
 * claim that stands in its way ends, and for a few seconds at most, since a wake-up may
 * be lost. Waiters with the same predicate that wake together share one selection.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { EngineDeps } from "../deps.ts";
import { CLAIMABLE } from "../writing/transact.ts";

/** A missed wake-up costs at most this. */
const PACE_MS = 5_000;

/** What an attempt found. */
export interface Looked {
  /** Nothing was there: worth waiting for. */
  readonly empty: boolean;
  /** When time alone may change that; null: it will not. */
  readonly nextAt: number | null;
}

export interface WaitFor {
  /** What is published when it is worth looking again; claimable items if nothing is said. */
  readonly topic?: string;
  /** A wait that was woken sleeps on for so long, for topics that are published all the time. */
  readonly restMs?: number;
}

export interface Waiters {
  /** Tries until there is a result, the time is up, the caller is gone, or the process drains. */
  until<T extends Looked>(
    waitMs: number,
    signal: AbortSignal,
    attempt: () => Promise<T>,
    what?: WaitFor,
  ): Promise<T>;
  /** How many are waiting. */
  readonly size: number;
  /** Answers everybody with what they have, and lets nobody wait any more. */
  drain(): void;
}

export function createWaiters(deps: EngineDeps): Waiters {
  const draining = new AbortController();
  let size = 0;

  const wait = async <T extends Looked>(
    deadline: number,
    signal: AbortSignal,
    attempt: () => Promise<T>,
    { topic = CLAIMABLE, restMs = 0 }: WaitFor,
  ): Promise<T> => {
    const ticket = deps.coordination.wakeUps.ticket([topic]);
    const stop = AbortSignal.any([signal, draining.signal]);
    try {
      for (;;) {
        const claimed = await attempt();
        const left = deadline - performance.now();
        if (!claimed.empty || left <= 0 || stop.aborted) return claimed;
        // With jitter, so that waiters that were woken together do not stay in step.
        const pace = PACE_MS * (0.75 + deps.random() / 4);
        const untilNext = claimed.nextAt === null ? pace : claimed.nextAt - (await deps.time.now());
        const woken = await ticket.wait(Math.max(10, Math.min(pace, untilNext, left)), stop);
        if (woken && restMs > 0) await rest(restMs, stop);
      }
    } finally {
      ticket.close();
    }
  };

  return {
    get size() {
      return size;
    },
    async until(waitMs, signal, attempt, what = {}) {
      // Above the cap nobody waits: an answer now, with the time to come back, is the cheaper thing.
      if (waitMs <= 0 || size >= deps.settings.maxWaiters || draining.signal.aborted) return await attempt();
      size += 1;
      deps.watcher?.waiting(size);
      try {
        return await wait(performance.now() + waitMs, signal, attempt, what);
      } finally {
        size -= 1;
        deps.watcher?.waiting(size);
      }
    },
    drain() {
      draining.abort();
    },
  };
}

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  // Aborted is what it is to be: the loop finds out by itself.
  await sleep(ms, undefined, { signal }).catch(() => {});
}
