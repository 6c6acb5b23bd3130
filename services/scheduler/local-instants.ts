/** Instants of a process that runs alone: one timer per kind. */
import type { DueInstant } from "../engine/instants.ts";
import { DELAY_MAX_MS, type InstantSource, SLACK_MS } from "./instant-source.ts";

export function createLocalInstants(): InstantSource {
  const timers = new Map<DueInstant["kind"], NodeJS.Timeout>();
  let call: (kind: DueInstant["kind"]) => void = () => {};
  return {
    memory: 0,
    async register({ kind, inMs }) {
      clearTimeout(timers.get(kind));
      const fire = (): void => {
        timers.delete(kind);
        call(kind);
      };
      timers.set(kind, setTimeout(fire, Math.min(DELAY_MAX_MS, Math.max(0, inMs) + SLACK_MS)));
      return true;
    },
    onDue(listener) {
      call = listener;
    },
    async close() {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}
