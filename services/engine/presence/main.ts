/** The loop in which a process says that it is there. */
import type { Lifecycle } from "../../runtime/lifecycle.ts";
import type { Log } from "../../runtime/log.ts";
import { createPacedLoop } from "../../runtime/paced-loop.ts";
import { createPresence, type PresenceDeps } from "./presence.ts";

/** How often a process says that it is there. */
const PRESENT_EVERY_MS = 5_000;

/** From now until the lifecycle ends. */
export async function announce(lifecycle: Lifecycle, log: Log, about: PresenceDeps): Promise<void> {
  const presence = createPresence(about);
  const loop = createPacedLoop({
    name: "presence",
    everyMs: PRESENT_EVERY_MS,
    run: () => presence.say(),
    onError: (error, failures) => {
      if (failures === 1) log.warn({ err: error }, "could not say that this process is there, trying again");
    },
  });
  await lifecycle.own(
    "presence",
    () => loop.start(),
    async () => {
      await loop.stop();
      // Others see it gone at once; while the database is away, a few seconds later.
      await presence.leave().catch(() => undefined);
    },
  );
}
