/** Tells the readers of all replicas that there are new events. They look by themselves as well, only later. */
import type { WakeUps } from "../../coordination/port.ts";

/** The topic of wake-ups for those who read events. */
export const EVENTS_WRITTEN = "events";

/** Under load one wake-up stands for all that happened in so long. */
const REST_MS = 20;

export interface EventAnnouncer {
  /** Something was committed that may have written events. */
  announce(): void;
  close(): void;
}

export function createEventAnnouncer(wakeUps: WakeUps): EventAnnouncer {
  let resting: NodeJS.Timeout | null = null;
  let again = false;
  let closed = false;

  const announce = (): void => {
    if (closed) return;
    if (resting !== null) {
      again = true;
      return;
    }
    wakeUps.publish([EVENTS_WRITTEN]);
    resting = setTimeout(() => {
      resting = null;
      if (!again) return;
      again = false;
      announce();
    }, REST_MS);
  };
  return {
    announce,
    close() {
      closed = true;
      if (resting !== null) clearTimeout(resting);
    },
  };
}
