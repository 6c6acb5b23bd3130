/** What a database driver says, in Muster's words. Nothing of the driver's text gets out. */
import { isKeyBusy, isLockTimeout, sqlState, StartOver } from "../../db/transaction.ts";
import { ensureError, fault, isMusterError, type MusterError } from "../contract/errors.ts";

const CONNECTION_CODES = new Set([
  "EAI_AGAIN",
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
]);
/** What the drivers say without a code. "Not queryable": the connection broke between two statements. */
const CONNECTION_MESSAGES =
  /connection (terminated|timeout|ended)|not queryable|timeout exceeded when trying to connect|timed out waiting for the embedded/i;

/**
 * What a database refuses in values that came from a caller: characters that it cannot store, and numbers
 * and instants beyond its ranges. Other data exceptions are mistakes of our own statements.
 */
const UNSTORABLE = new Set(["22021", "22P05", "22P02", "22003", "22008"]);

/** Turns anything thrown by a use case into an error that may be shown. */
export function asFault(error: unknown): MusterError {
  if (isMusterError(error)) return error;
  if (isKeyBusy(error)) {
    return fault("idempotency_in_flight", "the first call with this requestId has not finished", {
      retryAfterMs: 500,
    });
  }
  const state = sqlState(error);
  if (isLockTimeout(error) || error instanceof StartOver || state === "40P01" || state === "40001") {
    return fault("db_error", "the rows were busy for too long; nothing was changed", {
      retryAfterMs: 200,
      cause: error,
    });
  }
  if (state === "57014")
    return fault("db_error", "the database took too long; nothing was changed", { cause: error });
  if (state !== undefined && UNSTORABLE.has(state)) {
    return fault(
      "VALIDATION_ERROR",
      "the call holds a value that cannot be stored or compared, such as a NUL character",
      { cause: error },
    );
  }
  if (isConnectionFault(error, state)) {
    return fault(
      "unavailable",
      "the database cannot be reached right now; nothing was changed by this call, or its answer is kept under its requestId",
      {
        retryAfterMs: 1_000,
        cause: error,
      },
    );
  }
  return ensureError(error);
}

/** True if a transaction that ended like this may have been committed: its answer was lost on the way. */
export function isFateUnknown(error: unknown): boolean {
  return isConnectionFault(error, sqlState(error));
}

function isConnectionFault(error: unknown, state: string | undefined): boolean {
  // 08: connection exceptions; 57P0x: shut down, crashed, starting up; 53300: too many connections;
  // 25P03: this process was frozen in mid-transaction for so long that the server hung up.
  if (state !== undefined)
    return state.startsWith("08") || state.startsWith("57P0") || state === "53300" || state === "25P03";
  if (!(error instanceof Error)) return false;
  const code: unknown = (error as { code?: unknown }).code;
  if (typeof code === "string" && CONNECTION_CODES.has(code)) return true;
  return CONNECTION_MESSAGES.test(error.message);
}
