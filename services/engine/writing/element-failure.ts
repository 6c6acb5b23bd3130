/** What one element of a batch ran into, as the callers of batches read it. */
import { sqlState } from "../../../db/transaction.ts";
import type { ElementFailure } from "../../contract/answers.ts";
import { errorBody, fault, isMusterError, type MusterError } from "../../contract/errors.ts";
import { asFault } from "../database-fault.ts";
import type { EngineDeps } from "../deps.ts";

export function elementFailure(index: number, id: string | undefined, error: MusterError): ElementFailure {
  const body = errorBody(error);
  return {
    index,
    ...(id === undefined ? {} : { id }),
    error: body.message,
    errorCode: body.code,
    errorKind: body.kind,
    hint: body.hint,
    ...(body.retryAfterMs === undefined ? {} : { retryAfterMs: body.retryAfterMs }),
    ...(body.contendedItemId === undefined ? {} : { contendedItemId: body.contendedItemId }),
    ...(body.details === undefined ? {} : { details: body.details }),
  };
}

/**
 * Anything an element threw, as its failure. A key that was used for something else
 * makes the whole call suspect, so that one is thrown on.
 */
export function failureOf(
  deps: EngineDeps,
  index: number,
  id: string | undefined,
  thrown: unknown,
): ElementFailure {
  if (isMusterError(thrown) && thrown.code === "idempotency_mismatch") throw thrown;
  if (isMusterError(thrown)) return elementFailure(index, id, thrown);
  if (isUnstorable(thrown)) {
    const error = fault("validation_failed", "holds text that cannot be stored, such as a NUL character");
    return elementFailure(index, id, error);
  }
  const error = asFault(thrown);
  if (error.code === "INTERNAL_ERROR")
    deps.log.error({ err: thrown, index, id }, "an element of a batch failed");
  return elementFailure(index, id, error);
}

/** SQLSTATE class 22: the values themselves are at fault, not the server. */
export function isUnstorable(thrown: unknown): boolean {
  return sqlState(thrown)?.startsWith("22") === true;
}
