/** What a worker tells whoever watches it: a board, metrics, a test. */
import type { LossCause } from "./errors.ts";
import type { Log } from "./log.ts";

interface OfItem {
  readonly itemId: string;
  readonly fence: number;
  readonly workerId: string;
}

export type WorkerEvent =
  | (OfItem & { readonly type: "claimed"; readonly title: string; readonly attempt: number })
  | (OfItem & { readonly type: "completed"; readonly newRole: string })
  | (OfItem & { readonly type: "handed_back"; readonly reason: string })
  | (OfItem & { readonly type: "failed"; readonly reason: string })
  /** The handler's signal has just aborted. */
  | (OfItem & { readonly type: "lost"; readonly lossCause: LossCause })
  /** The result could not be handed in; the item will be offered again. */
  | (OfItem & { readonly type: "undelivered"; readonly reason: string })
  /** Nothing to claim; the worker waits for more. */
  | { readonly type: "idle"; readonly workerId: string; readonly outcome: string }
  | { readonly type: "claim_failed"; readonly workerId: string; readonly reason: string }
  | { readonly type: "renewed"; readonly count: number }
  | { readonly type: "heartbeat_failed"; readonly reason: string }
  | { readonly type: "event_loop_blocked"; readonly blockedMs: number }
  | { readonly type: "stopping"; readonly reason: string };

export type EventFunc = (event: WorkerEvent) => void;

/** What is worth a line, and how loud. */
const LEVELS: Readonly<Record<WorkerEvent["type"], "info" | "warn" | "error" | null>> = {
  claimed: "info",
  completed: "info",
  handed_back: "info",
  failed: "warn",
  lost: "warn",
  undelivered: "error",
  idle: null,
  claim_failed: "warn",
  renewed: null,
  heartbeat_failed: "warn",
  event_loop_blocked: "warn",
  stopping: "info",
};

/** Sends each event to the log and to the watcher. */
export function createEmitter(log: Log, onEvent: EventFunc | undefined): EventFunc {
  return (event) => {
    const level = LEVELS[event.type];
    const { type, ...fields } = event;
    if (level !== null) log[level](fields, type);
    onEvent?.(event);
  };
}
