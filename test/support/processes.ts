/**
 * Muster's own processes, for tests that need real ones: started as a user starts them, told
 * by their first line, stopped, killed and frozen by their number.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";

/** What `bin` of package.json names, for tests that start it in another way. */
export const MUSTER_PROGRAM = resolve(import.meta.dirname, "../../services/cli/main.ts");
/** A start takes a second or two; beside other tests on two cores, ten times that. */
const START_MS_MAX = 90_000;

export interface Ending {
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** From the signal, or the start, to the end. */
  readonly afterMs: number;
}

export interface MusterProcess {
  /** Where it listens; empty for a scheduler. */
  readonly url: string;
  readonly pid: number;
  /** Everything it has said so far. */
  readonly output: { readonly stdout: string; readonly stderr: string };
  /** Resolves when it has ended, however that came about. */
  readonly ended: Promise<Ending>;
  /** Asks it to stop, and waits until it has. A frozen process is thawed first. */
  stop(signal?: "SIGTERM" | "SIGINT"): Promise<Ending>;
  /** Ends it as a power cut does. */
  kill(): Promise<Ending>;
  /** Freezes it: connections stay open, nothing is answered. */
  pause(): void;
  resume(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface SpawnOptions {
  /** A session of its own: Ctrl-C in our terminal is ours to handle, and does not reach it. */
  readonly detached?: boolean;
  /** Gives up on a start that nobody waits for any more. */
  readonly signal?: AbortSignal;
}

export type MusterEnv = Readonly<Record<string, string | undefined>>;

/** Nothing outlives the test process, however it ends short of SIGKILL. */
const living = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of living) child.kill("SIGKILL");
});

/**
 * Starts `muster <args>` and waits for its first line.
 * @throws Error with its output when it ends before that.
 */
export async function spawnMuster(
  args: readonly string[],
  env: MusterEnv,
  { detached = false, signal }: SpawnOptions = {},
): Promise<MusterProcess> {
  const started = launch(args, env, { detached });
  const line = await firstLine(started, signal);
  return { ...started.handle, url: /listening on (http:\S+)/.exec(line)?.[1] ?? "" };
}

/** Runs `muster <args>` to its end; for commands that answer and for starts that are to fail. */
export async function runMuster(
  args: readonly string[],
  env: MusterEnv,
  options: { readonly cwd?: string; readonly stdin?: string } = {},
): Promise<Ending & { readonly stdout: string; readonly stderr: string }> {
  const { handle, child } = launch(args, env, { cwd: options.cwd });
  child.stdin?.end(options.stdin ?? "");
  const ending = await handle.ended;
  return { ...ending, ...handle.output };
}

interface Launched {
  readonly child: ChildProcess;
  readonly handle: Omit<MusterProcess, "url">;
}

function launch(
  args: readonly string[],
  env: MusterEnv,
  options: { readonly cwd?: string | undefined; readonly detached?: boolean },
): Launched {
  const child = spawn(process.execPath, [MUSTER_PROGRAM, ...args], {
    ...options,
    env: { ...cleanEnvironment(), ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  living.add(child);
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  let askedAt = performance.now();
  // `close` and not `exit`: by then everything it said is here.
  const ended = once(child, "close").then(([code, signal]): Ending => {
    living.delete(child);
    return {
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
      afterMs: performance.now() - askedAt,
    };
  });
  const end = (signal: NodeJS.Signals): Promise<Ending> => {
    askedAt = performance.now();
    child.kill(signal);
    return ended;
  };
  const handle: Omit<MusterProcess, "url"> = {
    pid: child.pid ?? -1,
    output,
    ended,
    stop: (signal = "SIGTERM") => {
      child.kill("SIGCONT");
      return end(signal);
    },
    kill: () => end("SIGKILL"),
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    [Symbol.asyncDispose]: async () => void (await end("SIGKILL")),
  };
  return { child, handle };
}

/** What whoever runs the tests has set for a Muster of their own is not for these. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("MUSTER_")));
}

async function firstLine({ handle, child }: Launched, signal?: AbortSignal): Promise<string> {
  const said = (): string | undefined => handle.output.stdout.split("\n").slice(0, -1)[0];
  const arrived = Promise.withResolvers<string>();
  const look = (): void => {
    const line = said();
    if (line !== undefined) arrived.resolve(line);
  };
  const explain = (why: string): Error =>
    new Error(
      `${child.spawnargs.slice(2).join(" ")} ${why}.\n${handle.output.stdout}${handle.output.stderr}`,
    );
  const giveUp = (): void => arrived.reject(signal?.reason);
  child.stdout?.on("data", look);
  signal?.addEventListener("abort", giveUp, { once: true });
  void handle.ended.then(({ code, signal }) =>
    arrived.reject(explain(`ended with ${code ?? signal} before it was up`)),
  );
  const timer = setTimeout(
    () => arrived.reject(explain(`was not up after ${START_MS_MAX} ms`)),
    START_MS_MAX,
  );
  try {
    signal?.throwIfAborted();
    return await arrived.promise;
  } catch (error) {
    await handle.kill();
    throw error;
  } finally {
    clearTimeout(timer);
    child.stdout?.off("data", look);
    signal?.removeEventListener("abort", giveUp);
  }
}
