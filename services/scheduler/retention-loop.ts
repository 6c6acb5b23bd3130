/**
 * Lets go of what is old, a little at a time. After every round it leaves the database to
 * others for several times as long as the round took: claims do not notice, and a slow database
 * is asked less.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { Engine } from "../engine/engine.ts";
import type { Log } from "../runtime/log.ts";
import { createPacedLoop, type PacedLoop } from "../runtime/paced-loop.ts";

export interface RetentionLoopDeps {
  readonly engine: Pick<Engine, "retain">;
  readonly log: Pick<Log, "info" | "warn">;
}

const LOOK_EVERY_MS = 60_000;
/** A round takes at most one part in so many of the time. */
const REST_RATIO = 9;
const REST_MAX_MS = 5_000;

export function createRetentionLoop({ engine, log }: RetentionLoopDeps): PacedLoop {
  let deleted = 0;
  return createPacedLoop({
    name: "retention",
    everyMs: LOOK_EVERY_MS,
    async run(signal) {
      const startedAt = performance.now();
      const round = await engine.retain(signal);
      deleted += round.deleted;
      if (round.more) {
        const restMs = Math.min(REST_MAX_MS, (performance.now() - startedAt) * REST_RATIO);
        await wait(restMs, undefined, { signal });
        return true;
      }
      if (deleted > 0) log.info({ deleted }, "let go of what was older than its window");
      deleted = 0;
      return false;
    },
    onError: (error, failures) => {
      if (failures === 1) log.warn({ err: error }, "retention failed, trying again");
    },
  });
}
