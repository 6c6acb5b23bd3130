/** Reaching what a process needs at its start: it may come up later than the process does. */
import { setTimeout as wait } from "node:timers/promises";
import { type Backoff, backoffMs } from "./backoff.ts";
import { UnavailableError } from "./exit.ts";
import type { Log } from "./log.ts";
import { withoutCredentials } from "./redact.ts";

export interface RetryOptions {
  /** What is reached, for the message: `PostgreSQL`. */
  readonly name: string;
  readonly log: Pick<Log, "warn" | "info">;
  /** Ends the tries; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  readonly backoff?: Backoff;
  /** Gives up after this long. Without it, it never does: a service outlives an outage. */
  readonly giveUpAfterMs?: number;
  /** Errors that another try cannot cure (a wrong password, a newer schema) end the tries. */
  readonly isFinal?: (error: unknown) => boolean;
  /** For tests: waits and tells the time without any passing. */
  readonly sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  readonly now?: () => number;
}

const BACKOFF: Backoff = { firstMs: 200, maxMs: 5_000 };

/** Calls `connect` until it succeeds, and says so in the log: once when it fails, again when it works. */
export async function connectWithRetry<T>(connect: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { name, log, signal, backoff = BACKOFF, sleep = waitFor, now = Date.now } = options;
  const startedAt = now();
  for (let failures = 1; ; failures += 1) {
    signal?.throwIfAborted();
    try {
      const connected = await connect();
      if (failures > 1) log.info({ name, tries: failures }, "reached after retries");
      return connected;
    } catch (error) {
      if (options.isFinal?.(error)) throw error;
      const waitMs = backoffMs(backoff, failures);
      const elapsedMs = now() - startedAt;
      const cause = reasonOf(error);
      if (options.giveUpAfterMs !== undefined && elapsedMs + waitMs > options.giveUpAfterMs) {
        const seconds = Math.round(elapsedMs / 1000);
        const message = `${name} could not be reached within ${seconds} s: ${cause}. Check that it runs and its address.`;
        throw new UnavailableError(message, { cause: error });
      }
      log.warn({ name, cause, tries: failures, nextTryMs: waitMs }, "not reachable, trying again");
      await sleep(waitMs, signal);
    }
  }
}

async function waitFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await wait(ms, undefined, { signal });
}

/** Node joins the failures of IPv4 and IPv6 in an error without a message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(reasonOf).join("; ");
  return withoutCredentials(error instanceof Error ? error.message : String(error));
}
