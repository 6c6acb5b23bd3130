/**
 * A worker in a process of its own, for promises that are about processes: what happens
 * when it is told to end, killed, frozen, or when its handler never yields.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createWorker, type WorkerOptions } from "../../../services/worker-sdk/worker.ts";
import type { WorkerEvent } from "../../../services/worker-sdk/events.ts";

/** What the handler does with its item. */
export type Behaviour =
  /** Computes without a pause for `ms`. */
  | { readonly kind: "spin"; readonly ms: number }
  /** Works until its signal aborts, then fails. */
  | { readonly kind: "obey" }
  /** Never settles, whatever its signal says. */
  | { readonly kind: "ignore" };

/** What the process says. */
type Report = WorkerEvent | { readonly type: "handled"; readonly aborted: boolean };

export interface WorkerProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly reports: Report[];
  saw<T extends Report["type"]>(type: T): Promise<Extract<Report, { type: T }>>;
  /** Resolves with the exit code, or the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>;
}

type Options = Partial<Pick<WorkerOptions, "ttlSeconds" | "untilEmpty" | "graceMs" | "slots">>;

/** Starts this file as a program. */
export function startWorkerProcess(url: string, behaviour: Behaviour, options: Options = {}): WorkerProcess {
  const child = fork(new URL(import.meta.url), [JSON.stringify({ url, behaviour, options })], {
    execArgv: [],
  });
  const reports: Report[] = [];
  const watchers = new Set<() => void>();
  child.on("message", (report: Report) => {
    reports.push(report);
    for (const watcher of watchers) watcher();
  });
  const exited = once(child, "exit").then(([code, signal]) => (signal ?? code) as number | NodeJS.Signals);
  return {
    child,
    reports,
    exited,
    saw: (type) =>
      new Promise((resolve) => {
        const look = (): void => {
          const report = reports.find((each) => each.type === type);
          if (report === undefined) return;
          watchers.delete(look);
          resolve(report as never);
        };
        watchers.add(look);
        look();
      }),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

async function main({
  url,
  behaviour,
  options,
}: {
  url: string;
  behaviour: Behaviour;
  options: Options;
}): Promise<void> {
  const worker = createWorker({
    url,
    agent: { id: "process", kind: "subagent" },
    ttlSeconds: 1,
    log: { info() {}, warn() {}, error() {} },
    ...options,
    async handler(_item, { signal }) {
      try {
        await behave(behaviour, signal);
      } finally {
        report({ type: "handled", aborted: signal.aborted });
      }
    },
    onEvent: report,
  });
  await worker.run();
  process.disconnect();
}

async function behave(behaviour: Behaviour, signal: AbortSignal): Promise<void> {
  if (behaviour.kind === "spin") {
    const untilMs = performance.now() + behaviour.ms;
    while (performance.now() < untilMs);
    // One turn of the loop, in which a wrong timer would abort before the renewals are read.
    await new Promise((resolve) => void setTimeout(resolve, 50));
    return;
  }
  await new Promise((_, reject) => {
    if (behaviour.kind === "obey")
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

function report(message: Report): void {
  process.send?.(message);
}

if (process.send !== undefined && process.argv[1] === import.meta.filename) {
  await main(JSON.parse(process.argv[2] ?? "") as Parameters<typeof main>[0]);
}
