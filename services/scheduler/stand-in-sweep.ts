/** What an API does when no scheduler has swept for a while: it sweeps itself, and fires what is due. */
import type { Engine } from "../engine/engine.ts";
import type { Log } from "../runtime/log.ts";
import { createPacedLoop, type PacedLoop } from "../runtime/paced-loop.ts";

export interface StandInSweepDeps {
  readonly engine: Pick<Engine, "sweep" | "sweepAgeMs" | "fireDue">;
  readonly log: Pick<Log, "info" | "warn">;
  readonly everyMs?: number;
}

/** A scheduler sweeps every second; one that has not for this long is not there. */
const SWEEP_AGE_MAX_MS = 10_000;
const LOOK_EVERY_MS = 2_500;

export function createStandInSweep({ engine, log, everyMs = LOOK_EVERY_MS }: StandInSweepDeps): PacedLoop {
  /** A full batch is followed by the next one, although the sweep row is young again by then. */
  let unfinished = false;
  return createPacedLoop({
    name: "stand-in sweep",
    everyMs,
    backoff: { firstMs: everyMs, maxMs: 2 * everyMs },
    async run(signal) {
      const ageMs = unfinished ? null : await engine.sweepAgeMs();
      if (ageMs !== null && ageMs <= SWEEP_AGE_MAX_MS) return false;
      const { more, ...ended } = await engine.sweep(signal);
      const fired = await engine.fireDue(signal);
      unfinished = more || fired.more;
      if (ended.freed > 0) log.info(ended, "freed lapsed claims in place of a scheduler");
      return unfinished;
    },
    onError: (error, failures) => {
      if (failures === 1) log.warn({ err: error }, "sweep failed, trying again");
    },
  });
}
