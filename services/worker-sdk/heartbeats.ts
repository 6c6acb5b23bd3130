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

export interface AttachRequest {
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
  let markReady: () => void = () => {};
  let markFailed: (error: Error) => void = () => {};
  const ready = new Promise<void>((resolve, reject) => {
    markReady = resolve;
    markFailed = reject;
  });
  let lastReadAtMs = 0;
  let closed = false;
  let thread = spawn();

  function spawn(): Thread {
    const next = new Thread(THREAD_FILE, { workerData: setup, name: "muster-heartbeats" });
    // A finished program ends, whatever this thread does.
    next.unref();
    next.on("message", (message: FromThread) => read(message));
    next.on("error", (error: Error) => {
      markFailed(error);
      emit({ type: "heartbeat_failed", reason: `The heartbeat thread failed: ${error.message}` });
    });
    next.on("exit", () => {
      if (closed) return;
      // Claims live on for their ttl, so there is time to start another one.
      setTimeout(restart, RESTART_AFTER_MS).unref();
    });
    return next;
  }

  function restart(): void {
    if (closed) return;
    thread = spawn();
    for (const each of attached) post(each);
  }

  function post({ request, cell }: Attached): void {
    const { itemId, fence, ttlMs } = request;
    const message: ToThread = { type: "attach", beat: { itemId, fence, ttlMs, memory: cell.memory } };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A thread is no window and has no origin.
    thread.postMessage(message);
  }

  function read(message: FromThread): void {
    switch (message.type) {
      case "ready":
        return markReady();
      case "renewed":
        return emit({ type: "renewed", count: message.count });
      case "trouble":
        return emit({ type: "heartbeat_failed", reason: `${message.code}: ${message.message}` });
      case "round":
        return checkLateness(message.sentAtMs);
      case "lost": {
        const same = ({ request }: Attached): boolean =>
          request.itemId === message.itemId && request.fence === message.fence;
        for (const { request } of [...attached].filter(same)) request.onLost(message.lossCause);
      }
    }
  }

  /** Rounds that queued up during one blockage are one warning, told by the oldest. */
  function checkLateness(sentAtMs: number): void {
    const nowMs = monotonicMs();
    const counted = sentAtMs < lastReadAtMs;
    lastReadAtMs = nowMs;
    if (!counted && nowMs - sentAtMs > BLOCKED_WARN_MS) {
      emit({ type: "event_loop_blocked", blockedMs: Math.round(nowMs - sentAtMs) });
    }
  }

  return {
    ready,
    attach(request) {
      const entry = { request, cell: createCell(request.trustedUntilMs) };
      attached.add(entry);
      post(entry);
      return {
        cell: entry.cell,
        detach() {
          entry.cell.end();
          attached.delete(entry);
        },
      };
    },
    async close() {
      if (closed) return;
      closed = true;
      for (const { cell } of attached) cell.end();
      await thread.terminate();
    },
  };
}
