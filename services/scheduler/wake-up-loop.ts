/**
 * Fires what is due: reminders and the planned instants of schedules. An instant only nudges it;
 * at its own pace it looks at every row that is due, so what Redis forgot is late by a second.
 */
import type { Engine } from "../engine/engine.ts";
import type { Log } from "../runtime/log.ts";
import { createPacedLoop, type PacedLoop } from "../runtime/paced-loop.ts";

export interface WakeUpLoopDeps {
  readonly engine: Pick<Engine, "fireDue">;
  readonly log: Pick<Log, "info" | "warn">;
  readonly everyMs?: number;
}

const LOOK_EVERY_MS = 1_000;
/** After an outage of the database reminders are late by no more than this. */
const BACKOFF = { firstMs: 500, maxMs: 2_000 };

export function createWakeUpLoop({ engine, log, everyMs = LOOK_EVERY_MS }: WakeUpLoopDeps): PacedLoop {
  return createPacedLoop({
    name: "wake-ups",
    everyMs,
    backoff: BACKOFF,
    async run(signal) {
      const { more, ...fired } = await engine.fireDue(signal);
      if (Object.values(fired).some((count) => count > 0)) log.info(fired, "fired what was due");
      return more;
    },
    onError: (error, failures) => {
      if (failures === 1) log.warn({ err: error }, "firing what is due failed, trying again");
    },
  });
}
