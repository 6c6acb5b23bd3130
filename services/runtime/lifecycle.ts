/**
 * How a process starts and ends.
 *
 *   starting ──own()──▶ serving ──SIGTERM, SIGINT, stop()──▶ stopping ──▶ ended
 *
 * What was started is stopped in reverse order, each part with what is left of one deadline: a part
 * that hangs is named and left behind, since the service manager kills everything a moment later.
 * Every failure on the way is kept; the second does not hide behind the first.
 */
import { describeExit, ExitError } from "./exit.ts";
import type { Log } from "./log.ts";
import { startedByNpm, whenOrphaned } from "./orphan-watch.ts";

/** Stops a part. The signal is aborted when the deadline of the whole stop has passed. */
export type Stop<T> = (part: T, deadline: AbortSignal) => void | Promise<void>;

export interface Lifecycle {
  /** Aborted at the moment the stop begins: waits and retries end by it. */
  readonly stopping: AbortSignal;
  /** Starts a part and promises to stop it, after everything that is started later. */
  own<T>(name: string, start: () => T | Promise<T>, stop: Stop<T>): Promise<T>;
  /**
   * Stops everything; further calls join the first.
   * @throws AggregateError of all that failed.
   */
  stop(): Promise<void>;
}

export interface LifecycleOptions {
  readonly deadlineMs?: number;
}

/** How long a whole stop may take. Who supervises a process has to be more patient than that. */
export const STOP_DEADLINE_MS = 20_000;

/** What a part gets when the deadline passed before its turn: time to let go, not to finish. */
const LAST_CHANCE_MS = 200;

interface Owned {
  readonly name: string;
  readonly stop: (deadline: AbortSignal) => void | Promise<void>;
}

export function createLifecycle(options: LifecycleOptions = {}): Lifecycle {
  const { deadlineMs = STOP_DEADLINE_MS } = options;
  const stopping = new AbortController();
  const owned: Owned[] = [];
  let stopped: Promise<void> | undefined;

  const stopAll = async (): Promise<void> => {
    stopping.abort(new Error("The process is stopping."));
    const endsAt = performance.now() + deadlineMs;
    const deadline = AbortSignal.timeout(deadlineMs);
    const errors: unknown[] = [];
    for (let part = owned.pop(); part !== undefined; part = owned.pop()) {
      const leftMs = Math.max(LAST_CHANCE_MS, endsAt - performance.now());
      await stopPart(part, deadline, leftMs).catch((error: unknown) => errors.push(error));
    }
    if (errors.length > 0) throw new AggregateError(errors, "Not everything stopped as it should.");
  };

  return {
    stopping: stopping.signal,
    own: async (name, start, stop) => {
      stopping.signal.throwIfAborted();
      const part = await start();
      owned.push({ name, stop: (deadline) => stop(part, deadline) });
      // The stop began while this part was starting, and may already have passed its place.
      if (stopping.signal.aborted) {
        await stopped?.catch(() => undefined);
        await stopAll();
        stopping.signal.throwIfAborted();
      }
      return part;
    },
    // A turn later: whoever hears of the stop and joins it must find it begun, not begin another.
    stop: () => (stopped ??= Promise.resolve().then(stopAll)),
  };
}

async function stopPart(part: Owned, deadline: AbortSignal, leftMs: number): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`${part.name} did not stop in time.`)), leftMs);
  try {
    await Promise.race([Promise.resolve(part.stop(deadline)), late.promise]);
  } catch (error) {
    throw new Error(`${part.name}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}

/**
 * One Ctrl-C can arrive twice: from the terminal, which sends it to everybody in it, and from
 * npm, which hands it on. A person does not press it again this soon.
 */
const SAME_SIGNAL_MS = 300;

/** The parts of Node's `process` that a process shell uses; tests hand in another. */
export interface ProcessHost {
  on(event: string, listener: (reason: unknown) => void): unknown;
  exit(code: number): void;
  readonly stderr: { write(text: string): unknown };
}

export interface RunOptions extends LifecycleOptions {
  /** Under `npm start`, end when npm does; see `orphan-watch.ts`. Not for a server left in the background. */
  readonly endsWithNpm?: boolean;
  readonly host?: ProcessHost;
}

export interface ProcessLifecycle extends Lifecycle {
  /** From now on faults of ours go to the log; until then, and for what the user must mend, to stderr. */
  logTo(log: Pick<Log, "fatal">): void;
}

/**
 * Runs a process: `main` starts its parts with {@link Lifecycle.own} and returns; then it serves
 * until a signal or {@link Lifecycle.stop}. The exit code is 0 after a clean stop, that of the
 * error if `main` or the stop failed, and 1 at once for a second signal.
 */
export async function runProcess(
  main: (lifecycle: ProcessLifecycle) => Promise<void>,
  options: RunOptions = {},
): Promise<void> {
  const host: ProcessHost = options.host ?? process;
  const lifecycle = createLifecycle(options);
  const ended = Promise.withResolvers<number>();
  let ending = false;
  let log: Pick<Log, "fatal"> | undefined;

  const complain = (error: unknown): number => {
    const { message, exitCode } = describeExit(error);
    if (log === undefined || error instanceof ExitError) host.stderr.write(`${message}\n`);
    else log.fatal({ err: error }, "ending because of an error");
    return exitCode;
  };
  const end = (exitCode: number): void => {
    if (ending) return;
    ending = true;
    lifecycle.stop().then(
      () => ended.resolve(exitCode),
      (error: unknown) => ended.resolve(exitCode || complain(error)),
    );
  };
  let signalledAt = Number.NEGATIVE_INFINITY;
  const onSignal = (): void => {
    const now = performance.now();
    if (!ending) {
      signalledAt = now;
      end(0);
    } else if (now - signalledAt >= SAME_SIGNAL_MS) host.exit(1);
  };
  // State is unknown after an error that nobody handled; what is left is an orderly end.
  const onFault = (error: unknown): void => end(complain(error));

  host.on("SIGTERM", onSignal);
  host.on("SIGINT", onSignal);
  host.on("unhandledRejection", onFault);
  host.on("uncaughtException", onFault);
  lifecycle.stopping.addEventListener("abort", () => end(0), { once: true });
  if (options.endsWithNpm === true && startedByNpm()) whenOrphaned(() => end(0));
  main({ ...lifecycle, logTo: (target) => (log = target) }).catch((error: unknown) => {
    // A start that was interrupted fails because it was.
    if (!lifecycle.stopping.aborted) end(complain(error));
  });
  host.exit(await ended.promise);
}
