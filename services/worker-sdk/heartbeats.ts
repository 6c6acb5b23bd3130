/** The main thread's side of the heartbeats: starts the thread, and tells each tenure what it reports. */
import { Worker as Thread } from "node:worker_threads";
import { monotonicMs } from "./clock.ts";
import type { LossCause } from "./errors.ts";
import type { EventFunc } from "./events.ts";
import {
  createCell,
  type FromThread,
  type HeartbeatSetup,
  type TenureCell,
  type ToThread,
} from "./heartbeat-messages.ts";

export interface Attachment {
  readonly cell: TenureCell;
  /** Ends the renewals at once: the thread looks at the cell before each of them. */
  detach(): void;
}

interface AttachRequest {
  readonly itemId: string;
  readonly fence: number;
  readonly ttlMs: number;
  readonly trustedUntilMs: number;
  /** The server said that the claim is gone. */
  readonly onLost: (lossCause: LossCause) => void;
}

export interface Heartbeats {
  /** Resolves when the thread runs; rejects when it cannot, for example because a bundler left its file out. */
  readonly ready: Promise<void>;
  attach(request: AttachRequest): Attachment;
  close(): Promise<void>;
}

/** A round read later than this means that the event loop was blocked. */
const BLOCKED_WARN_MS = 1_000;
const RESTART_AFTER_MS = 500;

// The same file as source and as built output; only its ending differs.
const THREAD_FILE = new URL(
  import.meta.url.endsWith(".ts") ? "./heartbeat-thread.ts" : "./heartbeat-thread.js",
  import.meta.url,
);

interface Attached {
  readonly request: AttachRequest;
  readonly cell: TenureCell;
}

export function startHeartbeats(setup: HeartbeatSetup, emit: EventFunc): Heartbeats {
  const attached = new Set<Attached>();
  const checkLateness = createLatenessCheck(emit);
  const thread = superviseThread(setup, emit, {
    onMessage(message) {
      if (message.type === "renewed") emit({ type: "renewed", count: message.count });
      else if (message.type === "trouble")
        emit({ type: "heartbeat_failed", reason: `${message.code}: ${message.message}` });
      else if (message.type === "round") checkLateness(message.sentAtMs);
      else if (message.type === "lost") {
        for (const { request } of attached) {
          if (request.itemId === message.itemId && request.fence === message.fence)
            request.onLost(message.lossCause);
        }
      }
    },
    onRestart() {
      for (const each of attached) thread.post(attachMessage(each));
    },
  });

  return {
    ready: thread.ready,
    attach(request) {
      const entry = { request, cell: createCell(request.trustedUntilMs) };
      attached.add(entry);
      thread.post(attachMessage(entry));
      return {
        cell: entry.cell,
        detach() {
          entry.cell.end();
          attached.delete(entry);
        },
      };
    },
    async close() {
      for (const { cell } of attached) cell.end();
      await thread.close();
    },
  };
}

function attachMessage({ request, cell }: Attached): ToThread {
  const { itemId, fence, ttlMs } = request;
  return { type: "attach", beat: { itemId, fence, ttlMs, memory: cell.memory } };
}

/** Rounds that queued up during one blockage are one warning, told by the oldest. */
function createLatenessCheck(emit: EventFunc): (sentAtMs: number) => void {
  let lastReadAtMs = 0;
  return (sentAtMs) => {
    const nowMs = monotonicMs();
    const isCounted = sentAtMs < lastReadAtMs;
    lastReadAtMs = nowMs;
    if (isCounted || nowMs - sentAtMs <= BLOCKED_WARN_MS) return;
    emit({ type: "event_loop_blocked", blockedMs: Math.round(nowMs - sentAtMs) });
  };
}

interface SupervisedThread {
  readonly ready: Promise<void>;
  post(message: ToThread): void;
  close(): Promise<void>;
}

interface ThreadEvents {
  readonly onMessage: (message: FromThread) => void;
  /** A new thread knows of nothing yet. */
  readonly onRestart: () => void;
}

/** Starts the thread, and another one should it ever end: claims live on for their ttl, so there is time. */
function superviseThread(setup: HeartbeatSetup, emit: EventFunc, events: ThreadEvents): SupervisedThread {
  let closed = false;
  let markReady: () => void = () => {};
  let markFailed: (error: Error) => void = () => {};
  const ready = new Promise<void>((resolve, reject) => {
    markReady = resolve;
    markFailed = reject;
  });
  let thread = spawn();

  function spawn(): Thread {
    const next = new Thread(THREAD_FILE, { workerData: setup, name: "muster-heartbeats" });
    // A finished program ends, whatever this thread does.
    next.unref();
    next.on("message", (message: FromThread) =>
      message.type === "ready" ? markReady() : events.onMessage(message),
    );
    next.on("error", (error: Error) => {
      markFailed(error);
      emit({ type: "heartbeat_failed", reason: `The heartbeat thread failed: ${error.message}` });
    });
    next.on("exit", () => void setTimeout(restart, RESTART_AFTER_MS).unref());
    return next;
  }

  function restart(): void {
    if (closed) return;
    thread = spawn();
    events.onRestart();
  }

  return {
    ready,
    post(message) {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A thread is no window and has no origin.
      thread.postMessage(message);
    },
    async close() {
      closed = true;
      await thread.terminate();
    },
  };
}
