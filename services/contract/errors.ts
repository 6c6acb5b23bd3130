/** The only error that leaves the engine, and what the doors make of it. */
import type { ErrorKind } from "./error-kinds.ts";
import { ERRORS, type ErrorCode } from "./error-table.ts";
import { matchesText } from "./rendering.ts";

export { EXIT, type ErrorEntry, type ErrorKind } from "./error-kinds.ts";
export { ERRORS, type ErrorCode } from "./error-table.ts";

export interface FaultOptions {
  readonly details?: Readonly<Record<string, unknown>>;
  readonly retryAfterMs?: number;
  /** Replaces the hint of the table where the next step depends on the case. */
  readonly hint?: string;
  readonly cause?: unknown;
}

// Registered, so that an error made by a second copy of this module is still recognised.
const BRAND = Symbol.for("muster.error");

/** The only error that leaves the engine. Its message and details are safe to show to any caller. */
export class MusterError extends Error {
  readonly code: ErrorCode;
  readonly kind: ErrorKind;
  readonly hint: string;
  readonly retryAfterMs?: number;
  readonly details?: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, options: FaultOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "MusterError";
    this.code = code;
    this.kind = ERRORS[code].kind;
    this.hint = options.hint ?? ERRORS[code].hint;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
    if (options.details !== undefined) this.details = options.details;
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** Makes the error for a code: `throw fault("cycle_detected", "A blocks B blocks A")`. */
export function fault(code: ErrorCode, message: string, options?: FaultOptions): MusterError {
  return new MusterError(code, message, options);
}

export function isMusterError(value: unknown): value is MusterError {
  return typeof value === "object" && value !== null && BRAND in value;
}

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && Object.hasOwn(ERRORS, value);
}

/**
 * Turns anything thrown into an error that may be shown. What is not ours becomes
 * INTERNAL_ERROR with a fixed text: a driver's message can hold SQL, paths and secrets.
 */
export function ensureError(thrown: unknown): MusterError {
  if (isMusterError(thrown)) return thrown;
  return fault("INTERNAL_ERROR", "Something unexpected went wrong on the server.", { cause: thrown });
}

/** An error as it goes over the wire. */
export interface ErrorBody {
  readonly code: ErrorCode;
  readonly kind: ErrorKind;
  readonly message: string;
  readonly hint: string;
  readonly retryAfterMs?: number;
  /** The item that somebody else has; also in the details. Where clients of task-orchestrator look for it. */
  readonly contendedItemId?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export function errorBody(error: MusterError): ErrorBody {
  return {
    code: error.code,
    kind: error.kind,
    message: error.message,
    hint: error.hint,
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    ...contended(error.details),
    ...(error.details === undefined ? {} : { details: error.details }),
  };
}

function contended(details: MusterError["details"]): Pick<ErrorBody, "contendedItemId"> {
  const id = details?.["contendedItemId"];
  return typeof id === "string" ? { contendedItemId: id } : {};
}

/** The text of an error for a model or a terminal: code, cause, next step. */
export function errorText(error: MusterError): string {
  const wait = error.retryAfterMs === undefined ? "" : ` Retry after ${error.retryAfterMs} ms.`;
  return `${error.code} (${error.kind}): ${error.message}${matchesText(error.details)}\nNext: ${error.hint}${wait}`;
}
