/**
 * One call, tried until it is answered. What makes trying again safe is that the body
 * never changes: the server keeps the answer of each `requestId`, so a call whose
 * answer was lost is replayed, not repeated.
 *
 *   no answer, or a broken one   next address, back off, try again
 *   transient, server-side       back off, try again
 *   shedding                     nobody calls that address before `retryAfterMs`
 *   anything else                thrown at once
 *
 * Transient refusals that are about the work and not about the server (somebody else
 * holds the item, nothing is free) are thrown too: waiting for them is a decision of
 * the caller, not of the connection.
 */
import { ERRORS, isErrorCode } from "../contract/errors.ts";
import { backoffMs, pause } from "./backoff.ts";
import { monotonicMs } from "./clock.ts";
import type { Endpoints } from "./endpoints.ts";
import { ConnectionError, MusterClientError } from "./errors.ts";
import type { Transport } from "./transport.ts";
import { readAnswer, requestBody, requestHeaders, type ClientInfo } from "./wire.ts";

const BACKOFF_BASE_MS = 50;
const BACKOFF_MAX_MS = 5_000;

export interface CallerOptions {
  readonly endpoints: Endpoints;
  readonly transport: Transport;
  readonly token?: string | undefined;
  readonly info: ClientInfo;
  /** Aborts when the client is closed: no further try may open a connection. */
  readonly closed: AbortSignal;
}

export interface CallLimits {
  /** How long one try may take. */
  readonly timeoutMs: number;
  /** How long after the first try another may still begin; 0 means a single try. */
  readonly retryForMs: number;
  readonly signal?: AbortSignal | undefined;
}

interface CallResult {
  readonly data: Record<string, unknown>;
  /** Just before the first try, on the monotonic clock: what a trust window counts from. */
  readonly firstTryAtMs: number;
}

export interface Caller {
  send(tool: string, input: object, limits: CallLimits): Promise<CallResult>;
}

type Try =
  | { readonly kind: "result"; readonly data: Record<string, unknown> }
  | { readonly kind: "refused"; readonly error: MusterClientError }
  | {
      readonly kind: "unreachable";
      readonly problem: string;
      readonly cause?: unknown;
      readonly retryAfterMs?: number;
    };

export function createCaller(options: CallerOptions): Caller {
  const { endpoints } = options;
  const closedUntilMs = new Map<URL, number>();
  let lastId = 0;

  return {
    async send(tool, input, limits) {
      lastId += 1;
      const body = requestBody(lastId, tool, input, options.info);
      const firstTryAtMs = monotonicMs();
      const mayWait = (ms: number): boolean => monotonicMs() + ms - firstTryAtMs <= limits.retryForMs;

      for (let tries = 1; ; tries += 1) {
        const url = endpoints.current();
        const closedMs = Math.max(0, (closedUntilMs.get(url) ?? 0) - monotonicMs());
        if (closedMs > 0) {
          if (!mayWait(closedMs)) throw stillShedding(closedMs);
          await pause(closedMs, limits.signal);
        }
        limits.signal?.throwIfAborted();
        if (options.closed.aborted) throw new ConnectionError("The client is closed", url.href, tries - 1);

        const answer = await tryOnce(options, url, tool, body, limits);
        if (answer.kind === "result") return { data: answer.data, firstTryAtMs };
        limits.signal?.throwIfAborted();

        if (answer.kind === "refused" && answer.error.kind === "shedding") {
          // Waited for at the top of the loop, by this call and by every other one.
          const waitMs = answer.error.retryAfterMs ?? backoffMs(tries, BACKOFF_BASE_MS, BACKOFF_MAX_MS);
          closedUntilMs.set(url, monotonicMs() + waitMs);
          if (answer.error.code === "draining") endpoints.failed(url);
          if (!mayWait(0)) throw answer.error;
          continue;
        }
        if (answer.kind === "refused" && !isWorthRepeating(answer.error)) throw answer.error;
        if (answer.kind === "unreachable" || answer.error.code === "unavailable") endpoints.failed(url);

        const waitMs = waitBefore(tries + 1, answer, endpoints.size);
        if (!mayWait(waitMs)) throw failureOf(answer, url, tries);
        await pause(waitMs, limits.signal);
      }
    },
  };
}

async function tryOnce(
  options: CallerOptions,
  url: URL,
  tool: string,
  body: string,
  limits: CallLimits,
): Promise<Try> {
  const controller = new AbortController();
  const abort = (): void => controller.abort(limits.signal?.reason);
  const tooSlow = (): void => controller.abort(new Error(`No answer within ${limits.timeoutMs} ms`));
  const timer = setTimeout(tooSlow, limits.timeoutMs);
  limits.signal?.addEventListener("abort", abort, { once: true });
  try {
    const headers = requestHeaders(tool, options.token);
    const answer = readAnswer(
      await options.transport.send({ url, headers, body, signal: controller.signal }),
    );
    if (answer.kind !== "broken") return answer;
    const { problem, retryAfterMs } = answer;
    return { kind: "unreachable", problem, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  } catch (error) {
    return {
      kind: "unreachable",
      problem: error instanceof Error ? error.message : String(error),
      cause: error,
    };
  } finally {
    clearTimeout(timer);
    limits.signal?.removeEventListener("abort", abort);
  }
}

/** A new code of a newer server is judged by its kind alone. */
function isWorthRepeating(error: MusterClientError): boolean {
  if (error.kind !== "transient") return false;
  if (!isErrorCode(error.code) || error.code === "idempotency_in_flight") return true;
  return ERRORS[error.code].httpStatus >= 500;
}

/** The first round over the addresses is quick: the next one is probably well. */
function waitBefore(nextTry: number, answer: Exclude<Try, { kind: "result" }>, addresses: number): number {
  const asked = answer.kind === "refused" ? answer.error.retryAfterMs : answer.retryAfterMs;
  if (asked !== undefined) return asked;
  if (answer.kind === "unreachable" && nextTry <= addresses) return 0;
  return backoffMs(Math.max(0, nextTry - addresses - 1), BACKOFF_BASE_MS, BACKOFF_MAX_MS);
}

function failureOf(answer: Exclude<Try, { kind: "result" }>, url: URL, tries: number): Error {
  if (answer.kind === "refused") return answer.error;
  const times = tries === 1 ? "once" : `${tries} times`;
  const message = `No answer from Muster at ${url.origin} (tried ${times}): ${answer.problem}`;
  return new ConnectionError(
    message,
    url.href,
    tries,
    answer.cause === undefined ? {} : { cause: answer.cause },
  );
}

function stillShedding(retryAfterMs: number): MusterClientError {
  const fields = { code: "unavailable", kind: "shedding" as const, retryAfterMs: Math.ceil(retryAfterMs) };
  return new MusterClientError("The server asked for no calls until later", fields);
}
