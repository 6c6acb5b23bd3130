/**
 * The worker: a number of slots that share connections, heartbeats and a way to stop.
 *
 * Stopping has three steps, each with its own signal, so that an item is free again
 * within two seconds whatever its handler does:
 *
 *   stop() ─► stopping: nothing more is claimed; open waits are hung up
 *          ─ grace ─► graceOver: handlers' signals abort
 *                   ─ a moment ─► abandoned: items are handed back without their handlers
 */
import { randomUUID } from "node:crypto";
import { createClient, type Client, type ClientOptions } from "./client.ts";
import { createEmitter, type EventFunc } from "./events.ts";
import { startHeartbeats, type Heartbeats } from "./heartbeats.ts";
import { createStderrLog, type Log } from "./log.ts";
import type { FinishTrigger } from "./outcome.ts";
import type { ClaimRequest, Selector } from "./shapes.ts";
import { onShutdownSignal } from "./shutdown-signals.ts";
import type { Handler, SlotContext } from "./slot-context.ts";
import { runSlot } from "./slot.ts";

export interface WorkerOptions extends Omit<ClientOptions, "fetch" | "workerId"> {
  /** Works on one item. See {@link Handler}. */
  readonly handler: Handler;
  /** Which items to take. Default: the whole queue, by priority. */
  readonly selector?: Selector | undefined;
  /** How many items to work on at once. Default 1. */
  readonly slots?: number | undefined;
  /** How long a claim lasts without a renewal; what it takes others to notice that this process died. Default 60. */
  readonly ttlSeconds?: number | undefined;
  /** What this worker can do; items that need more are not offered to it. */
  readonly capabilities?: readonly string[] | undefined;
  /** Move a claimed item from queue to work. Default true. */
  readonly start?: boolean | undefined;
  /** How finished items move on unless the outcome says so. Default `complete`. */
  readonly finishWith?: FinishTrigger | undefined;
  /** How long an empty claim waits on the server, 0 to 50. Default 25. */
  readonly waitSeconds?: number | undefined;
  /** End when everything that matches is done, instead of waiting for more. Default false. */
  readonly untilEmpty?: boolean | undefined;
  /** How long handlers may go on after a stop before their signal aborts. Default 750. */
  readonly graceMs?: number | undefined;
  /** Stop on SIGTERM and SIGINT while running; a second one exits. Default true. */
  readonly handleSignals?: boolean | undefined;
  /** Default: warnings and errors on stderr. A pino logger fits. */
  readonly log?: Log | undefined;
  readonly onEvent?: EventFunc | undefined;
}

/** @see {@link createWorker} */
export interface Worker {
  /**
   * Works until it is stopped, or until everything is done with `untilEmpty`. Rejects
   * when the server refuses to let this worker claim at all.
   */
  run(): Promise<void>;
  /** Stops claiming, lets handlers end, hands the rest back. Resolves when all of that is done. */
  stop(reason?: string): Promise<void>;
}

const TTL_SECONDS = 60;
const WAIT_SECONDS = 25;
const GRACE_MS = 750;
const ABANDON_AFTER_MS = 250;

/**
 * Makes a worker. It claims nothing before `run()`.
 * @example
 * ```ts
 * const worker = createWorker({
 *   url: "http://127.0.0.1:3001",
 *   agent: { id: "builder", kind: "subagent" },
 *   selector: { tags: "build" },
 *   slots: 4,
 *   handler: async (item, { signal }) => {
 *     const result = await build(item.title, { signal });
 *     return result.ok ? complete({ summary: result.headline }) : fail(result.log);
 *   },
 * });
 * await worker.run(); // until SIGTERM
 * ```
 */
export function createWorker(options: WorkerOptions): Worker {
  const log = options.log ?? createStderrLog();
  const emit = createEmitter(log, options.onEvent);
  const stops = {
    stopping: new AbortController(),
    graceOver: new AbortController(),
    abandoned: new AbortController(),
  };
  const timers: NodeJS.Timeout[] = [];
  let running: Promise<void> | undefined;

  function beginStop(reason: string): void {
    if (stops.stopping.signal.aborted) return;
    emit({ type: "stopping", reason });
    const graceMs = options.graceMs ?? GRACE_MS;
    stops.stopping.abort();
    timers.push(setTimeout(() => stops.graceOver.abort(), graceMs));
    timers.push(setTimeout(() => stops.abandoned.abort(), graceMs + ABANDON_AFTER_MS));
  }

  async function run(): Promise<void> {
    const stopListening = options.handleSignals === false ? () => {} : onShutdownSignal(beginStop);
    const client = createClient(options);
    const heartbeats = startHeartbeats(heartbeatSetup(options, client), emit);
    try {
      await heartbeats.ready;
      await runSlots(options, { client, heartbeats, log, emit, stops, beginStop });
    } finally {
      for (const timer of timers) clearTimeout(timer);
      stopListening();
      await heartbeats.close();
      client.close();
    }
  }

  return {
    run: () => (running ??= run()),
    async stop(reason = "stop() was called") {
      beginStop(reason);
      await running?.catch(() => {}); // Whoever called run() gets its error.
    },
  };
}

interface Running {
  readonly client: Client;
  readonly heartbeats: Heartbeats;
  readonly log: Log;
  readonly emit: EventFunc;
  readonly stops: Record<"stopping" | "graceOver" | "abandoned", AbortController>;
  readonly beginStop: (reason: string) => void;
}

/** Runs all slots to their end. One that fails stops the others first: their items are not to be lost with it. */
async function runSlots(
  options: WorkerOptions,
  { client, heartbeats, log, emit, stops, beginStop }: Running,
): Promise<void> {
  let busy = 0;
  const shared: Omit<SlotContext, "client"> = {
    heartbeats,
    log,
    emit,
    handler: options.handler,
    entry: entryOf(options),
    capabilities: options.capabilities ?? [],
    waitSeconds: options.waitSeconds ?? WAIT_SECONDS,
    finishWith: options.finishWith ?? "complete",
    untilEmpty: options.untilEmpty ?? false,
    othersAreBusy: () => busy > 0,
    setBusy: (isBusy) => void (busy += isBusy ? 1 : -1),
    stopping: stops.stopping.signal,
    graceOver: stops.graceOver.signal,
    abandoned: stops.abandoned.signal,
  };
  const slots = Array.from({ length: options.slots ?? 1 }, () =>
    runSlot({ ...shared, client: client.forWorker(randomUUID()) }).catch((error: unknown) => {
      beginStop("a slot failed");
      throw error;
    }),
  );
  const ends = await Promise.allSettled(slots);
  const failures = ends.filter((end) => end.status === "rejected").map((end): unknown => end.reason);
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) throw new AggregateError(failures, "Several slots failed");
}

function entryOf(options: WorkerOptions): ClaimRequest {
  const { selector = {}, ttlSeconds = TTL_SECONDS, start = true } = options;
  return { selector, ttlSeconds, start };
}

function heartbeatSetup(options: WorkerOptions, client: Client) {
  const urls = options.urls ?? (options.url ?? "").split(",");
  return { urls, token: options.token, agent: options.agent, workerId: client.workerId };
}
