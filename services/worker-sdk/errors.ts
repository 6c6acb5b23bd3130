import { ERRORS, isErrorCode, type ErrorKind } from "../contract/errors.ts";

const BRAND_CLIENT = Symbol.for("muster.sdk.client-error");
const BRAND_CONNECTION = Symbol.for("muster.sdk.connection-error");
const BRAND_LOST = Symbol.for("muster.sdk.claim-lost");

/** What a refusal says besides its text. */
export interface RefusalFields {
  readonly code: string;
  readonly kind: ErrorKind;
  readonly hint?: string;
  readonly retryAfterMs?: number;
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * The server understood the call and refused it.
 * @example
 * ```ts
 * try {
 *   await client.call("manage_items", { operation: "delete", itemIds: [id] });
 * } catch (error) {
 *   if (MusterClientError.is(error) && error.code === "has_children") console.error(error.hint);
 *   else throw error;
 * }
 * ```
 */
export class MusterClientError extends Error {
  override readonly name: string = "MusterClientError";
  /** Stable name of the cause, for example `already_claimed`. A newer server may know codes that we do not. */
  readonly code: string;
  /** `transient`: the same call may succeed later. `permanent`: it will not. `shedding`: wait `retryAfterMs` first. */
  readonly kind: ErrorKind;
  /** The next step. */
  readonly hint?: string;
  readonly retryAfterMs?: number;
  readonly details?: Readonly<Record<string, unknown>>;

  constructor(message: string, fields: RefusalFields, options?: ErrorOptions) {
    super(message, options);
    this.code = fields.code;
    this.kind = fields.kind;
    const hint = fields.hint ?? hintOf(fields.code);
    if (hint !== undefined) this.hint = hint;
    if (fields.retryAfterMs !== undefined) this.retryAfterMs = fields.retryAfterMs;
    if (fields.details !== undefined) this.details = fields.details;
    Object.defineProperty(this, BRAND_CLIENT, { value: true });
  }

  /** Recognises it even when two copies of this package are loaded, where `instanceof` fails. */
  static is(value: unknown): value is MusterClientError {
    return isBranded(value, BRAND_CLIENT);
  }
}

/**
 * No server answered: refused, reset, timed out, or answered with something that is
 * not Muster. It says nothing about the claim, which may well be intact.
 * @example
 * ```ts
 * if (ConnectionError.is(error)) console.error(`Is Muster running at ${error.url}?`);
 * ```
 */
export class ConnectionError extends Error {
  override readonly name: string = "ConnectionError";
  readonly code = "connection_failed";
  readonly kind = "transient";
  /** The address that was tried last. */
  readonly url: string;
  /** How often the call was tried, over all addresses. */
  readonly tries: number;

  constructor(message: string, url: string, tries: number, options?: ErrorOptions) {
    super(message, options);
    this.url = url;
    this.tries = tries;
    Object.defineProperty(this, BRAND_CONNECTION, { value: true });
  }

  static is(value: unknown): value is ConnectionError {
    return isBranded(value, BRAND_CONNECTION);
  }
}

/** Why a claim is no longer to be acted under. */
export type LossCause =
  /** The server says that it ended or belongs to somebody else. */
  | "claim_lost"
  /** It reached its longest tenure and cannot be renewed. */
  | "tenure_over"
  /** The item does not exist any more. */
  | "not_found"
  /** No renewal got through in time; the server may have given it away. */
  | "trust_lapsed";

/**
 * The reason with which a handler's signal aborts when its claim is gone.
 * @example
 * ```ts
 * ctx.signal.addEventListener("abort", () => {
 *   if (ClaimLost.is(ctx.signal.reason)) child.kill();
 * });
 * ```
 */
export class ClaimLost extends Error {
  override readonly name: string = "ClaimLost";
  readonly code = "claim_lost";
  readonly kind = "permanent";
  readonly itemId: string;
  readonly fence: number;
  readonly lossCause: LossCause;

  constructor(itemId: string, fence: number, lossCause: LossCause) {
    super(`The claim on ${itemId} (fence ${fence}) is lost: ${lossCause}`);
    this.itemId = itemId;
    this.fence = fence;
    this.lossCause = lossCause;
    Object.defineProperty(this, BRAND_LOST, { value: true });
  }

  static is(value: unknown): value is ClaimLost {
    return isBranded(value, BRAND_LOST);
  }
}

/** The reason with which a handler's signal aborts when the worker stops and its grace is over. */
export class WorkerStopped extends Error {
  override readonly name: string = "WorkerStopped";
  readonly code = "worker_stopped";
}

/** The text of anything thrown, for a log line or as evidence. */
export function textOf(thrown: unknown): string {
  if (!(thrown instanceof Error))
    return typeof thrown === "string" ? thrown : (JSON.stringify(thrown) ?? String(thrown));
  const text = thrown.stack ?? `${thrown.name}: ${thrown.message}`;
  return thrown.cause === undefined ? text : `${text}\ncaused by ${textOf(thrown.cause)}`;
}

function hintOf(code: string): string | undefined {
  return isErrorCode(code) ? ERRORS[code].hint : undefined;
}

function isBranded(value: unknown, brand: symbol): boolean {
  return typeof value === "object" && value !== null && brand in value;
}
