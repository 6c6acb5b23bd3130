/**
 * The outbox as streams. One reader for the process, whatever the number of streams:
 *
 *   wake-up or pace ──▶ EventReader ──▶ the latest events, in memory ──▶ stream, stream, stream
 *                                       older ones, from the table ──────────┘ (replay)
 *
 * Streams pull, each with a number of its own, so a slow one holds nothing but its number. The
 * reader runs only while there is somebody to read for. It never goes past a number that may
 * still come; so what a stream has seen up to its number is all there is, on every replica, and
 * a client can go on with it elsewhere.
 */
import type { Handle } from "../../../db/statement.ts";
import { findEventBounds, findEvents, type StoredEvent } from "../../../db/stores/event-store.ts";
import type { SyncReason } from "../../contract/events.ts";
import type { Coordination } from "../../coordination/port.ts";
import type { EngineLog } from "../deps.ts";
import { EventReader } from "./event-reader.ts";
import { EVENTS_WRITTEN } from "./event-announcer.ts";

/** How many events are kept in memory for streams. */
const KEPT = 2_000;
/** Where a reader begins: far enough back for what runs now, and for clients that come back soon. */
const LOOK_BACK = 1_000;
/** More numbers than this are not sent again: reading anew is quicker. */
const REPLAY_MAX = 100_000;
const REPLAY_PAGE = 500;
/** A wake-up may be lost. */
const PACE_MS = 1_000;
/** A transaction that was rolled back wakes nobody. */
const GAP_PACE_MS = 50;
/** After a failed read. */
const RETRY_MS = 500;

export interface FeedDeps {
  readonly db: Handle;
  readonly coordination: Pick<Coordination, "wakeUps">;
  readonly log: EngineLog;
}

export interface EventFeed {
  /**
   * Opens a stream behind `after`, or behind what has happened so far. It has to be closed.
   * @throws what the database says when the feed cannot begin to read.
   */
  open(after: number | null): Promise<FeedStream>;
  /** How many streams are open. */
  readonly size: number;
  /** Milliseconds from the writing of the latest event that was read to its reading; null while nobody follows. */
  readonly lagMs: number | null;
  /** Ends all streams, and opens no other. */
  drain(): void;
  close(): Promise<void>;
}

export interface FeedStream {
  /** The number that the stream has come to. */
  readonly position: number;
  /** How many numbers it is behind the reader. */
  readonly behind: number;
  /** Why it could not begin where it was asked to; it begins with what happens from now on instead. */
  readonly missed: SyncReason | null;
  /** The next events, in order; waits for some. Null when the signal is aborted or the feed is drained. */
  next(signal: AbortSignal): Promise<readonly StoredEvent[] | null>;
  close(): void;
}

export function createEventFeed(deps: FeedDeps): EventFeed {
  return new Feed(deps);
}

class Feed implements EventFeed {
  readonly #deps: FeedDeps;
  readonly #stopping = new AbortController();
  /** Numbers rise; everything between the first and `#position` that exists is here. */
  #kept: StoredEvent[] = [];
  /** Nothing at or below this number is in `#kept`. */
  #floor = 0;
  #position = 0;
  #size = 0;
  #lagMs: number | null = null;
  #advanced = Promise.withResolvers<void>();
  #run: {
    readonly stop: AbortController;
    readonly begun: Promise<void>;
    readonly ended: Promise<void>;
  } | null = null;

  constructor(deps: FeedDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#size;
  }

  get lagMs(): number | null {
    return this.#size === 0 ? null : this.#lagMs;
  }

  async open(after: number | null): Promise<FeedStream> {
    this.#size += 1;
    try {
      this.#run ??= this.#start();
      await this.#run.begun;
      const bounds = after === null ? null : await findEventBounds(this.#deps.db);
      const missed = after === null || bounds === null ? null : missedSince(after, bounds);
      return this.#streamFrom(after === null || missed !== null ? this.#position : after, missed);
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  drain(): void {
    this.#stopping.abort();
    this.#run?.stop.abort();
  }

  async close(): Promise<void> {
    this.drain();
    await this.#run?.ended;
  }

  #leave(): void {
    this.#size -= 1;
    if (this.#size > 0 || this.#run === null) return;
    this.#run.stop.abort();
    this.#run = null;
  }

  #start() {
    const stop = new AbortController();
    if (this.#stopping.signal.aborted) stop.abort();
    const begun = Promise.withResolvers<void>();
    const ended = this.#follow(stop.signal, begun).catch(begun.reject);
    return { stop, begun: begun.promise, ended };
  }

  async #follow(signal: AbortSignal, begun: PromiseWithResolvers<void>): Promise<void> {
    const { db, coordination, log } = this.#deps;
    const ticket = coordination.wakeUps.ticket([EVENTS_WRITTEN]);
    try {
      const { newest } = await findEventBounds(db);
      const reader = new EventReader(db, Math.max(0, newest - LOOK_BACK));
      this.#kept = [];
      this.#floor = this.#position = reader.position;
      while (!signal.aborted) {
        let waitMs = PACE_MS;
        try {
          const { events, next } = await reader.read();
          if (signal.aborted) break;
          this.#take(events, reader.position);
          if (next === "more") continue;
          if (next === "gap") waitMs = GAP_PACE_MS;
          begun.resolve();
        } catch (error) {
          if (signal.aborted) break;
          begun.reject(error);
          log.warn({ err: error }, "the outbox could not be read; streams wait");
          waitMs = RETRY_MS;
        }
        await ticket.wait(waitMs, signal);
      }
    } finally {
      ticket.close();
      begun.resolve();
    }
  }

  #take(events: readonly StoredEvent[], position: number): void {
    const last = events.at(-1);
    if (last === undefined) return;
    this.#kept.push(...events);
    if (this.#kept.length > KEPT) {
      const gone = this.#kept.splice(0, this.#kept.length - KEPT);
      this.#floor = gone.at(-1)?.seq ?? this.#floor;
    }
    this.#position = position;
    this.#lagMs = Math.max(0, Date.now() - last.at);
    const { resolve } = this.#advanced;
    this.#advanced = Promise.withResolvers<void>();
    resolve();
  }

  #streamFrom(start: number, missed: SyncReason | null): FeedStream {
    let position = start;
    const closed = new AbortController();
    const behind = (): number => Math.max(0, this.#position - position);
    return {
      missed,
      get position() {
        return position;
      },
      get behind() {
        return behind();
      },
      next: async (signal) => {
        const stop = AbortSignal.any([signal, this.#stopping.signal, closed.signal]);
        while (!stop.aborted) {
          const events = await this.#after(position);
          if (events.length > 0) {
            position = events.at(-1)?.seq ?? position;
            return events;
          }
          await resolvedOrAborted(stop, this.#advanced.promise, () => behind() > 0);
        }
        return null;
      },
      close: () => {
        if (closed.signal.aborted) return;
        closed.abort();
        this.#leave();
      },
    };
  }

  /** Never beyond the reader: what is there may have something before it that is not there yet. */
  async #after(position: number): Promise<readonly StoredEvent[]> {
    if (position >= this.#position) return [];
    if (position < this.#floor)
      return await findEvents(this.#deps.db, { after: position, upTo: this.#position, limit: REPLAY_PAGE });
    const from = this.#kept.findIndex(({ seq }) => seq > position);
    return from === -1 ? [] : this.#kept.slice(from, from + REPLAY_PAGE);
  }
}

function missedSince(
  after: number,
  { oldest, newest }: { readonly oldest: number | null; readonly newest: number },
): SyncReason | null {
  if (after > newest) return "unknown_event_id";
  // Numbers below the oldest one may have been events once, and are gone.
  const isKept = after >= (oldest ?? newest + 1) - 1;
  return isKept && newest - after <= REPLAY_MAX ? null : "too_old";
}

/** Resolves when the promise does, or the signal is aborted. */
async function resolvedOrAborted(
  signal: AbortSignal,
  promise: Promise<void>,
  already: () => boolean,
): Promise<void> {
  if (already() || signal.aborted) return;
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  const onAbort = (): void => resolve();
  signal.addEventListener("abort", onAbort, { once: true });
  await Promise.race([promise, gone]);
  signal.removeEventListener("abort", onAbort);
}
