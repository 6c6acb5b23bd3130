/** Processes that the demo starts: each is ended with the demo, and its output is kept for when it fails. */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";

export interface ChildOptions {
  readonly name: string;
  /** A TypeScript file and its arguments. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Where its output goes. */
  readonly logPath: string;
  /** Lets it notice that we are gone, by the end of a channel. */
  readonly channel?: boolean;
}

export interface Child {
  readonly name: string;
  readonly pid: number;
  readonly running: boolean;
  /** Resolves with the exit code, or with the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>;
  signal(signal: NodeJS.Signals): void;
  /** Asks it to end, and after a while makes it. */
  stop(): Promise<number | NodeJS.Signals>;
  /** What it has printed so far. */
  output(): string;
}

const STOP_MS_MAX = 8_000;

/** None of them outlives us, however we end short of SIGKILL. */
const living = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of living) child.kill("SIGKILL");
});

export function startChild({ name, args, env, logPath, channel = false }: ChildOptions): Child {
  const log = openSync(logPath, "a");
  const stdio: SpawnOptions["stdio"] = ["ignore", log, log, ...(channel ? ["ipc" as const] : [])];
  // A session of its own: Ctrl-C is ours to handle, and must not end servers before their workers.
  const child = spawn(process.execPath, args, { env, stdio, detached: true });
  closeSync(log);
  living.add(child);
  const exited = new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      living.delete(child);
      resolve(signal ?? code ?? 1);
    });
  });
  // Whoever waits for it hears of a failure; nobody has to.
  exited.catch(() => {});
  return {
    name,
    pid: child.pid ?? 0,
    get running() {
      return child.exitCode === null && child.signalCode === null;
    },
    exited,
    signal: (signal) => void child.kill(signal),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
      // One that is frozen hears of SIGTERM only when it thaws.
      child.kill("SIGCONT");
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX);
      const code = await exited;
      clearTimeout(timer);
      return code;
    },
    output: () => readFileSync(logPath, "utf8"),
  };
}
