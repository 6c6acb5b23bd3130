/** An engine that answers what a test tells it to, for tests of what stands in front of the engine. */
import type { Caller, Engine } from "../../services/engine/engine.ts";

export interface EngineCall {
  readonly name: string;
  readonly input: unknown;
  readonly caller: Caller;
}

export interface ScriptedEngine extends Engine {
  /** Every call so far, oldest first. */
  readonly calls: EngineCall[];
  readonly drained: () => boolean;
}

/** Nothing ever happens to a script. */
const NO_EVENTS: Engine["events"] = {
  open: () => Promise.reject(new Error("A script has no events.")),
  size: 0,
  lagMs: null,
  drain: () => {},
  close: () => Promise.resolve(),
};

/** Answers every call with the script; remembers the calls. */
export function scriptedEngine(
  script: (call: EngineCall) => Record<string, unknown> | Promise<Record<string, unknown>>,
): ScriptedEngine {
  const calls: EngineCall[] = [];
  let drained = false;
  return {
    events: NO_EVENTS,
    calls,
    drained: () => drained,
    execute(name, input, caller) {
      const call = { name, input, caller };
      calls.push(call);
      return Promise.resolve(call).then(script);
    },
    noteRefusal: () => {},
    sweep: () => Promise.resolve({ freed: 0, requeued: 0, dead: 0, more: false }),
    retain: () => Promise.resolve({ deleted: 0, more: false }),
    fireDue: () => Promise.resolve({ reminders: 0, schedules: 0, more: false }),
    sweepAgeMs: () => Promise.resolve(null),
    drain() {
      drained = true;
    },
    close: () => Promise.resolve(),
  };
}
