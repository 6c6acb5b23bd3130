/**
 * A worker whose handler is a program: the body of `muster work`.
 *
 *   exit 0           the item moves on by `start`, so that a review phase is not skipped
 *   exit 75          not now (EX_TEMPFAIL): back into the queue, no attempt counted
 *   anything else    the attempt failed; the last lines of stderr are the evidence
 *   claim lost       SIGTERM to the program and all it started, SIGKILL a little later
 */
import { REASON_LENGTH_MAX } from "../contract/limits.ts";
import { textOf, WorkerStopped } from "./errors.ts";
import type { WorkerEvent } from "./events.ts";
import { complete, fail, handBack, type Outcome } from "./outcome.ts";
import { runProgram, type ProgramEnd } from "./run-program.ts";
import type { ClaimedItem, HandlerContext } from "./slot-context.ts";
import { createWorker, type Worker, type WorkerOptions } from "./worker.ts";

export interface CommandWorkerOptions extends Omit<WorkerOptions, "handler" | "finishWith" | "start"> {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  /** Variables besides those of this process and `MUSTER_*`. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** How long a program whose claim is lost has to end by itself. Default 2000. */
  readonly killGraceMs?: number | undefined;
  /** Gets each line that a program writes. Default: this process' own output, with the item in front. */
  readonly onLine?: ((stream: "stdout" | "stderr", item: ClaimedItem, line: string) => void) | undefined;
  /** Stops the worker as SIGTERM would. */
  readonly signal?: AbortSignal | undefined;
}

/** How many items ended in which way. */
export interface CommandWorkerReport {
  readonly completed: number;
  readonly handedBack: number;
  readonly failed: number;
  readonly lost: number;
}

const EXIT_DONE = 0;
/** EX_TEMPFAIL of sysexits.h. */
/** How long an item that a program put off is kept out of the offers. */
const LATER_SECONDS = 2;
const EXIT_LATER = 75;
/** Within the limit of a reason, with room for the line in front. */
const TAIL_SIZE_MAX_BYTES = REASON_LENGTH_MAX - 200;
const KILL_GRACE_MS = 2_000;
/** A stopping worker waits a quarter of a second for its handlers; programs must be gone by then. */
const STOP_KILL_GRACE_MS = 150;

/**
 * Runs a program for each item until SIGTERM, or until everything is done with
 * `untilEmpty`. The item is JSON on its stdin; who holds it is in `MUSTER_ITEM_ID`,
 * `MUSTER_FENCE`, `MUSTER_WORKER_ID`, `MUSTER_ATTEMPT`, `MUSTER_AGENT` and `MUSTER_URL`.
 * Rejects when the program cannot be started, rather than failing one item after the other.
 * @example
 * ```ts
 * await runCommandWorker({
 *   url: "http://127.0.0.1:3001",
 *   agent: { id: "builder", kind: "subagent" },
 *   selector: { tags: "build" },
 *   slots: 2,
 *   command: "./build.sh",
 *   untilEmpty: true,
 * });
 * ```
 */
export async function runCommandWorker(options: CommandWorkerOptions): Promise<CommandWorkerReport> {
  const report = { completed: 0, handedBack: 0, failed: 0, lost: 0 };
  let startFailure: unknown;

  const worker: Worker = createWorker({
    ...options,
    finishWith: "start",
    start: true,
    onEvent(event) {
      count(report, event);
      options.onEvent?.(event);
    },
    async handler(item, context) {
      try {
        return outcomeOf(options, await runFor(item, context, options), context);
      } catch (error) {
        // The fault is the worker's: failing items for it would use up their attempts.
        startFailure ??= error;
        void worker.stop(`cannot start ${options.command}`);
        return handBack(`cannot start ${options.command}`);
      }
    },
  });

  const stop = (): void => void worker.stop("the signal aborted");
  options.signal?.addEventListener("abort", stop, { once: true });
  if (options.signal?.aborted) stop();
  try {
    await worker.run();
  } finally {
    options.signal?.removeEventListener("abort", stop);
  }
  if (startFailure !== undefined) {
    const why = startFailure instanceof Error ? startFailure.message : textOf(startFailure);
    throw new Error(`Cannot start "${options.command}": ${why}`, { cause: startFailure });
  }
  return report;
}

function runFor(
  item: ClaimedItem,
  context: HandlerContext,
  options: CommandWorkerOptions,
): Promise<ProgramEnd> {
  const killGraceMs = options.killGraceMs ?? KILL_GRACE_MS;
  const pass = options.onLine ?? passThrough;
  return runProgram({
    command: options.command,
    args: options.args ?? [],
    cwd: options.cwd,
    env: environmentOf(context, options),
    stdin: `${JSON.stringify(item)}\n`,
    onLine: (stream, line) => pass(stream, item, line),
    signal: context.signal,
    killAfterMs: (reason) => (reason instanceof WorkerStopped ? STOP_KILL_GRACE_MS : killGraceMs),
    tailSizeMaxBytes: TAIL_SIZE_MAX_BYTES,
  });
}

function environmentOf(
  context: HandlerContext,
  options: CommandWorkerOptions,
): Record<string, string | undefined> {
  return {
    // oxlint-disable-next-line node/no-process-env -- A program gets the environment of who runs it.
    ...process.env,
    ...options.env,
    MUSTER_ITEM_ID: context.item.id,
    MUSTER_FENCE: String(context.fence),
    MUSTER_WORKER_ID: context.workerId,
    MUSTER_ATTEMPT: String(context.attempt),
    MUSTER_AGENT: options.agent.id,
    MUSTER_URL: options.urls?.join(",") ?? options.url,
    ...(options.token === undefined ? {} : { MUSTER_TOKEN: options.token }),
  };
}

function outcomeOf(options: CommandWorkerOptions, end: ProgramEnd, { signal }: HandlerContext): Outcome {
  const { exitCode, exitSignal, stderrTail } = end;
  if (exitCode === EXIT_DONE) return complete({ trigger: "start" });
  // We ended it, so its end says nothing about the item.
  if (signal.aborted) return handBack("stopped by the worker");
  if (exitCode === EXIT_LATER) {
    // Not only this slot should leave it alone for a while: all of them should.
    return handBack(`${options.command} exited with ${EXIT_LATER}: later`, { delaySeconds: LATER_SECONDS });
  }
  const how = exitSignal === null ? `exited with ${exitCode}` : `was ended by ${exitSignal}`;
  return fail(`${options.command.slice(-100)} ${how}\n${stderrTail}`.trim());
}

function passThrough(stream: "stdout" | "stderr", item: ClaimedItem, line: string): void {
  process[stream].write(`[${item.id.slice(0, 8)}] ${line}\n`);
}

function count(report: { -readonly [K in keyof CommandWorkerReport]: number }, event: WorkerEvent): void {
  if (event.type === "completed") report.completed += 1;
  else if (event.type === "handed_back") report.handedBack += 1;
  else if (event.type === "failed") report.failed += 1;
  else if (event.type === "lost" || event.type === "undelivered") report.lost += 1;
}
