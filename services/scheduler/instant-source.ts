/**
 * Instants: calls at a point in time, in one process of the fleet. They only make the sweep
 * prompt. The database is the truth: every scheduler sweeps at its own pace too, and registers
 * what comes next again and again, so an instant that is lost is late by a second and no more.
 */
import type { DueInstant } from "../engine/instants.ts";

export interface InstantSource {
  /**
   * Asks for a call. The same instant asked for by several processes is one call, in one of
   * them. False when nobody can say that it was taken down. Does not reject.
   */
  register(instant: DueInstant): Promise<boolean>;
  /** Begins to call. One listener, and before any registration. */
  onDue(listener: (kind: DueInstant["kind"]) => void): void;
  /** Changes whenever what was registered may have been lost. */
  readonly memory: number;
  close(): Promise<void>;
}

/** The database's clock is a little behind ours by the time its answer is here; too early would be in vain. */
export const SLACK_MS = 5;

/** Timers take no more than this; an instant that is further away is registered again long before. */
export const DELAY_MAX_MS = 24 * 60 * 60 * 1000;
