/**
 * `GET /api/v1/events`: the outbox as server-sent events, from any replica.
 *
 *   id: 4711                        the number to come back with, as `Last-Event-ID`
 *   event: item.advanced
 *   data: {"id":"4711", …}
 *
 * A client that comes back with its number, to whichever replica, gets what it missed, each event
 * once. One whose number is too old or unknown is told so (`sync.required`) and goes on from now.
 * One that reads too slowly is told the same and let go: it holds nothing here but its number, and
 * can come back with it. Every number on the stream, also beside a keepalive, is safe to come back with.
 */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { fault, type MusterError } from "../../contract/errors.ts";
import type { SyncReason } from "../../contract/events.ts";
import { type Access, requireAll } from "../../engine/access.ts";
import { createEventView, type EventView } from "../../engine/events/event-view.ts";
import type { EventFeed, FeedStream } from "../../engine/events/event-feed.ts";
import type { Log } from "../../runtime/log.ts";
import type { Exchange } from "../http/exchange.ts";
import { sendWebResponse } from "../http/web-response.ts";
import { toShownError } from "../mcp/call-tool.ts";
import { plainProblem, problem } from "../rest/problem.ts";
import { readEventsRequest } from "./read-events-request.ts";

export const EVENTS_PATH = "/api/v1/events";

/** What the door found out about who follows. */
export interface StreamAccess {
  readonly access: Access;
  /** Counts its streams; null while the door is open. */
  readonly credential: string | null;
  /** Resolves once the credential opens nothing any more, or the signal is aborted. */
  untilEnded(signal: AbortSignal): Promise<void>;
}

export interface EventStreamsOptions {
  readonly feed: EventFeed;
  readonly log: Log;
  readonly limits?: Partial<StreamLimits>;
}

export interface StreamLimits {
  /** Streams of this process. */
  readonly streams: number;
  /** Streams of one credential in this process. */
  readonly streamsPerCredential: number;
  /** Events that may happen while a client takes nothing. */
  readonly queue: number;
  /** How long a client may take nothing. */
  readonly stallMs: number;
  readonly keepaliveMs: number;
}

const DEFAULT_LIMITS: StreamLimits = {
  streams: 1_000,
  streamsPerCredential: 50,
  queue: 1_000,
  stallMs: 30_000,
  keepaliveMs: 15_000,
};

/** How long a client waits before it comes back. */
const RECONNECT_MS = 1_000;
/** How often a stalled stream is looked at. */
const STALL_LOOK_MS = 200;
/** What a client that was let go may still take of what was sent. */
const FAREWELL_MS = 5_000;

export interface EventStreams {
  /** Answers one request; resolves when the stream has ended. */
  handle(exchange: Exchange, caller: StreamAccess): Promise<void>;
}

export function createEventStreams({ feed, log, limits: given }: EventStreamsOptions): EventStreams {
  const limits = { ...DEFAULT_LIMITS, ...given };
  const open = new Map<string, number>();

  async function serve(exchange: Exchange, caller: StreamAccess): Promise<void> {
    requireAll(caller.access, ["read"], "following events");
    const { roots, types, after } = readEventsRequest(exchange.query, exchange.header("last-event-id"));
    const isUnknown = Number.isNaN(after);
    const stream = await feed.open(isUnknown ? null : after);
    try {
      const view = createEventView({ scope: caller.access.scope, roots, types });
      const missed = isUnknown ? "unknown_event_id" : stream.missed;
      await new Follower(exchange, stream, view, limits).run(caller, missed);
    } finally {
      stream.close();
    }
  }

  return {
    async handle(exchange, caller) {
      const { method } = exchange.request;
      if (method !== "GET") {
        const refusal = plainProblem(405, "method_not_allowed", `${EVENTS_PATH} takes GET.`, {
          allow: "GET",
        });
        return await sendWebResponse(exchange.response, refusal);
      }
      const who = caller.credential ?? "";
      const mine = open.get(who) ?? 0;
      open.set(who, mine + 1);
      try {
        if (feed.size >= limits.streams || mine >= limits.streamsPerCredential) throw tooMany();
        await serve(exchange, caller);
      } catch (thrown) {
        if (exchange.response.headersSent) throw thrown;
        const error = toShownError(thrown, "events", { requestId: exchange.id }, log);
        await sendWebResponse(exchange.response, problem(error, exchange.id));
      } finally {
        const left = (open.get(who) ?? 1) - 1;
        if (left > 0) open.set(who, left);
        else open.delete(who);
      }
    },
  };
}

function tooMany(): MusterError {
  return fault("rate_limited", "as many streams of events are open here as may be", { retryAfterMs: 5_000 });
}

type End = "gone" | "drained" | "slow" | "unauthenticated";

class Follower {
  readonly #response: ServerResponse;
  readonly #exchange: Exchange;
  readonly #stream: FeedStream;
  readonly #view: EventView;
  readonly #limits: StreamLimits;

  constructor(exchange: Exchange, stream: FeedStream, view: EventView, limits: StreamLimits) {
    this.#exchange = exchange;
    this.#response = exchange.response;
    this.#stream = stream;
    this.#view = view;
    this.#limits = limits;
  }

  async run(caller: StreamAccess, missed: SyncReason | null): Promise<void> {
    const { signal: gone } = this.#exchange;
    if (gone.aborted) return;
    const expired = new AbortController();
    const done = new AbortController();
    const expiry = caller
      .untilEnded(AbortSignal.any([gone, done.signal]))
      .then(() => (done.signal.aborted || gone.aborted ? undefined : expired.abort()));
    this.#begin(missed);
    const keepalive = setInterval(() => this.#keepAlive(), this.#limits.keepaliveMs);
    try {
      const end = await this.#follow(AbortSignal.any([gone, expired.signal]));
      this.#finish(expired.signal.aborted ? "unauthenticated" : end);
    } finally {
      clearInterval(keepalive);
      done.abort();
      await expiry;
    }
  }

  #begin(missed: SyncReason | null): void {
    this.#response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      // A proxy that collects the stream would deliver it when it ends.
      "x-accel-buffering": "no",
      "x-request-id": this.#exchange.id,
    });
    this.#response.write(`retry: ${RECONNECT_MS}\nid: ${this.#stream.position}\n\n`);
    if (missed !== null) this.#control("sync.required", { reason: missed });
  }

  async #follow(stop: AbortSignal): Promise<End> {
    for (;;) {
      const events = await this.#stream.next(stop);
      if (events === null) return stop.aborted ? "gone" : "drained";
      const frames = events.flatMap((event) => {
        const wire = this.#view(event);
        return wire === null ? [] : [frame(wire.event, wire.id, wire)];
      });
      if (frames.length === 0) continue;
      if (!this.#response.write(frames.join("")) && !(await this.#drained(stop)))
        return stop.aborted ? "gone" : "slow";
    }
  }

  /** Waits until the client has taken what was sent. False if it takes too long over it, or is gone. */
  async #drained(stop: AbortSignal): Promise<boolean> {
    const behind = this.#stream.behind;
    const deadline = performance.now() + this.#limits.stallMs;
    while (this.#response.writableNeedDrain) {
      const look = AbortSignal.any([stop, AbortSignal.timeout(STALL_LOOK_MS)]);
      // Aborted is what it is to be: what happened is looked at below.
      await once(this.#response, "drain", { signal: look }).catch(() => {});
      if (stop.aborted) return false;
      const isFull = this.#stream.behind - behind > this.#limits.queue;
      if (this.#response.writableNeedDrain && (isFull || performance.now() > deadline)) return false;
    }
    return true;
  }

  #finish(end: End): void {
    const response = this.#response;
    if (response.destroyed) return;
    if (end === "unauthenticated") this.#control("auth.expired", {});
    if (end === "slow") this.#control("sync.required", { reason: "queue_overflow" });
    response.end();
    // Whoever reads nothing would keep the connection, and what was sent, for ever.
    const cut = setTimeout(() => response.destroy(), FAREWELL_MS);
    response.once("close", () => clearTimeout(cut));
  }

  #keepAlive(): void {
    // To a client that takes nothing it would only be more of what it does not take.
    if (this.#response.writableNeedDrain || this.#response.writableEnded) return;
    this.#response.write(`: keepalive\nid: ${this.#stream.position}\n\n`);
  }

  /** Without a number of its own: what the client comes back with stays what it was. */
  #control(event: "sync.required" | "auth.expired", data: object): void {
    this.#response.write(`event: ${event}\ndata: ${JSON.stringify({ event, ...data })}\n\n`);
  }
}

function frame(event: string, id: string, data: object): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
