/**
 * The life of a reminder: armed until its instant has come, fired until somebody says that they
 * have seen it. Nothing else ends it: a reminder that acknowledged itself would be one that
 * nobody has to read.
 */

export type ReminderState = "armed" | "fired" | "acknowledged";

/** Instants in milliseconds of the database's clock. */
export interface ReminderTimes {
  readonly remindAt: number;
  readonly firedAt: number | null;
  readonly ackedAt: number | null;
}

export function stateOf({ firedAt, ackedAt }: Omit<ReminderTimes, "remindAt">): ReminderState {
  if (ackedAt !== null) return "acknowledged";
  return firedAt === null ? "armed" : "fired";
}

/** To the second, and up: it may come late, and never early. */
export function upToSecond(ms: number): number {
  return Math.ceil(ms / 1000) * 1000;
}

/** Armed anew, whatever became of it before: both stamps go, or it would never fire again. */
export function rearm(at: number): ReminderTimes {
  return { remindAt: upToSecond(at), firedAt: null, ackedAt: null };
}

/** Armed anew for so much later than now. */
export function snooze(seconds: number, now: number): ReminderTimes {
  return rearm(now + seconds * 1000);
}

export type Acknowledgement =
  | { readonly kind: "acknowledged"; readonly times: ReminderTimes }
  /** It was before; when stays what it was. */
  | { readonly kind: "unchanged" }
  /** There is nothing to acknowledge yet. */
  | { readonly kind: "not_fired" };

export function acknowledge(times: ReminderTimes, now: number): Acknowledgement {
  switch (stateOf(times)) {
    case "armed":
      return { kind: "not_fired" };
    case "acknowledged":
      return { kind: "unchanged" };
    case "fired":
      return { kind: "acknowledged", times: { ...times, ackedAt: now } };
  }
}
