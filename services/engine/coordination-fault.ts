/** Looks, at the start, for a Redis that may lose what must not be lost. */
import { setTimeout as wait } from "node:timers/promises";
import type { Coordination } from "../coordination/port.ts";
import type { EngineLog } from "./deps.ts";

/** The wake-up channel may need a moment longer than the first answer; a wrong policy stays wrong. */
const FAULT_TRIES = 5;
const FAULT_PAUSE_MS = 300;

/**
 * One that is away is waited for elsewhere.
 * Answers what is wrong with it, or null.
 */
export async function findCoordinationFault(
  coordination: Coordination,
  log: EngineLog,
  signal: AbortSignal,
): Promise<string | null> {
  for (let tries = 1; ; tries += 1) {
    const { state, fault } = await coordination.health();
    if (state === "down") {
      log.warn({}, "Redis is not reachable; serving without it and trying again until it is");
      return null;
    }
    if (fault === undefined) return null;
    if (tries === FAULT_TRIES) return fault;
    await wait(FAULT_PAUSE_MS, undefined, { signal });
  }
}
