/**
 * Runs one program for one item, in a process group of its own: what it started must
 * end with it when the claim is lost, or it would go on writing next to the new holder.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { createLineReader, createTail } from "./output-lines.ts";

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string | undefined;
  readonly stdin: string;
  readonly onLine: (stream: "stdout" | "stderr", line: string) => void;
  /** SIGTERM to the group when it aborts; SIGKILL after `killAfterMs(reason)`. */
  readonly signal: AbortSignal;
  readonly killAfterMs: (reason: unknown) => number;
  readonly tailSizeMaxBytes: number;
}

export interface ProgramEnd {
  readonly exitCode: number | null;
  readonly exitSignal: NodeJS.Signals | null;
  /** The last lines of stderr. */
  readonly stderrTail: string;
}

/** What a background process that inherited the output may delay the end by. */
const OUTPUT_DRAIN_MS = 500;

/** Groups that must not outlive this process. A SIGKILL of it leaves them; their fence does not let them write. */
const running = new Set<ChildProcess>();
let exitHookInstalled = false;

/** Resolves when the program ended. Rejects when it could not be started. */
export async function runProgram(program: Program): Promise<ProgramEnd> {
  installExitHook();
  const { command, args, env, cwd, signal } = program;
  const child = spawn(command, args, { env, cwd, detached: true, stdio: ["pipe", "pipe", "pipe"] });
  const tail = createTail(program.tailSizeMaxBytes);
  const stdout = createLineReader((line) => program.onLine("stdout", line));
  const stderr = createLineReader((line) => {
    tail.add(line);
    program.onLine("stderr", line);
  });
  child.stdout.on("data", (chunk: Buffer) => stdout.write(chunk));
  child.stderr.on("data", (chunk: Buffer) => stderr.write(chunk));
  // A program that does not read its input closes the pipe; that is its right.
  child.stdin.on("error", () => {});
  child.stdin.end(program.stdin);

  const stopKilling = killOnAbort(child, signal, program.killAfterMs);
  running.add(child);
  try {
    const { exitCode, exitSignal } = await untilExit(child);
    return { exitCode, exitSignal, stderrTail: (stdout.end(), stderr.end(), tail.text()) };
  } finally {
    stopKilling();
    running.delete(child);
  }
}

function untilExit(child: ChildProcess): Promise<Pick<ProgramEnd, "exitCode" | "exitSignal">> {
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (exitCode, exitSignal) => {
      const end = (): void => resolve({ exitCode, exitSignal });
      // `close` follows once all output is read, unless somebody else still holds the pipe.
      const timer = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
        end();
      }, OUTPUT_DRAIN_MS);
      child.on("close", () => {
        clearTimeout(timer);
        end();
      });
    });
  });
}

/** Returns what stops it. */
function killOnAbort(
  child: ChildProcess,
  signal: AbortSignal,
  killAfterMs: (reason: unknown) => number,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    killGroup(child, "SIGTERM");
    timer = setTimeout(() => killGroup(child, "SIGKILL"), killAfterMs(signal.reason));
  };
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  return () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    // What the program left running must not outlive a claim that is gone.
    if (signal.aborted) killGroup(child, "SIGKILL");
  };
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // Nobody is left in the group.
  }
}

function installExitHook(): void {
  if (exitHookInstalled) return;
  exitHookInstalled = true;
  process.on("exit", () => {
    for (const child of running) killGroup(child, "SIGKILL");
  });
}
