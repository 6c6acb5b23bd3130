/** What every error says besides its cause. */

/**
 * What to do about it. `transient`: the same call may succeed later, back off.
 * `permanent`: the same call will fail again, change something. `shedding`: the
 * server is protecting itself, wait `retryAfterMs` before any call.
 */
export type ErrorKind = "transient" | "permanent" | "shedding";

export interface ErrorEntry {
  readonly kind: ErrorKind;
  readonly httpStatus: number;
  readonly exitCode: number;
  readonly hint: string;
}

/** Exit codes of the command line. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  unavailable: 69,
  config: 78,
} as const;

/** One line of the table. */
export function entry(kind: ErrorKind, httpStatus: number, exitCode: number, hint: string): ErrorEntry {
  return Object.freeze({ kind, httpStatus, exitCode, hint });
}
