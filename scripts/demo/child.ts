/** Worker processes that the demo starts: each ends with the demo, and its output is kept for when it fails. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";

export interface ChildOptions {
  /** A TypeScript file and its arguments. */
  readonly args: readonly string[];
  /** Where its output goes. */
  readonly logPath: string;
}

export interface Child {
  signal(signal: NodeJS.Signals): void;
  /** Asks it to end, and after a while makes it. Answers the exit code, or the signal that ended it. */
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

export function startChild({ args, logPath }: ChildOptions): Child {
  const log = openSync(logPath, "a");
  const child = spawn(process.execPath, args, {
    // The channel says nothing: its end tells the child that we are gone.
    stdio: ["ignore", log, log, "ipc"],
    // A session of its own: Ctrl-C is ours to handle.
    detached: true,
  });
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
