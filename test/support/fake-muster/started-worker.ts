/** A worker against any server, and its events to wait for. */
import type { WorkerEvent } from "../../../services/worker-sdk/events.ts";
import { createWorker, type Worker, type WorkerOptions } from "../../../services/worker-sdk/worker.ts";

export const agent = { id: "tester", kind: "subagent" } as const;

export interface StartedWorker extends AsyncDisposable {
  readonly worker: Worker;
  readonly events: WorkerEvent[];
  /** Resolves with the first event of this type, past or to come. */
  saw<T extends WorkerEvent["type"]>(type: T): Promise<Extract<WorkerEvent, { type: T }>>;
  /** Settles when the worker ended. */
  readonly ended: Promise<void>;
}

const SILENT = { info() {}, warn() {}, error() {} };

export function startWorker(
  server: { readonly url: string },
  options: Partial<WorkerOptions> & Pick<WorkerOptions, "handler">,
): StartedWorker {
  const events: WorkerEvent[] = [];
  const watchers = new Set<() => void>();
  const worker = createWorker({
    url: server.url,
    agent,
    ttlSeconds: 30,
    waitSeconds: 20,
    handleSignals: false,
    log: SILENT,
    onEvent(event) {
      events.push(event);
      for (const watcher of watchers) watcher();
    },
    ...options,
  });
  const ended = worker.run();
  ended.catch(() => {}); // Tests that care look at `ended` themselves.
  return {
    worker,
    events,
    ended,
    saw: (type) =>
      new Promise((resolve) => {
        const look = (): void => {
          const event = events.find((each) => each.type === type);
          if (event === undefined) return;
          watchers.delete(look);
          resolve(event as never);
        };
        watchers.add(look);
        look();
      }),
    [Symbol.asyncDispose]: () => worker.stop(),
  };
}

/** Resolves when the signal aborts, with its reason. */
export function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    signal.addEventListener("abort", () => resolve(signal.reason), { once: true });
  });
}
