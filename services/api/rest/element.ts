/** REST calls name one thing: what a batch of one ran into is the call's own error. */
import { fault, isErrorCode, type MusterError } from "../../contract/errors.ts";

interface Failure {
  readonly error: string;
  readonly errorCode: string;
  readonly hint?: string | undefined;
  readonly retryAfterMs?: unknown;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The only element of a batch.
 * @throws MusterError what it failed with
 */
export function onlyElement<T>(done: readonly T[], failures: readonly Failure[] | undefined): T {
  const [failure] = failures ?? [];
  if (failure !== undefined) throw toFault(failure);
  const [only] = done;
  if (only === undefined) throw new Error("a batch of one answered nothing");
  return only;
}

/** The error that a failed element stands for. */
export function toFault(failure: Failure, more: Readonly<Record<string, unknown>> = {}): MusterError {
  const { error, errorCode, hint, retryAfterMs, details } = failure;
  const all = { ...details, ...more };
  return fault(isErrorCode(errorCode) ? errorCode : "OPERATION_FAILED", error, {
    ...(hint === undefined ? {} : { hint }),
    ...(typeof retryAfterMs === "number" ? { retryAfterMs } : {}),
    ...(Object.keys(all).length === 0 ? {} : { details: all }),
  });
}

/** Tells a client that this answer is that of an earlier call with the same key. */
export function replayMark(replayed: boolean | undefined): Record<string, string> {
  return replayed === true ? { "idempotency-replayed": "true" } : {};
}
