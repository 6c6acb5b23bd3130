/** A client of `/api/v1/events`, by hand: it keeps the last id as browsers do, and can stop reading. */
import { request, type IncomingMessage } from "node:http";

export interface SseFrame {
  /** The last id so far, also if this frame had none of its own. */
  readonly id: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface EventClient {
  readonly status: number;
  /** Body of an answer that is no stream. */
  readonly text: string;
  /** Everything that has come so far. */
  readonly frames: readonly SseFrame[];
  /** What it would come back with. */
  readonly lastEventId: string;
  /** The next frame that nobody has taken, of any kind or of this one. Rejects when the stream ends first. */
  next(event?: string): Promise<SseFrame>;
  /** Resolves when the stream has ended, however. */
  readonly ended: Promise<void>;
  /** Takes nothing any more until `resume`. */
  pause(): void;
  resume(): void;
  close(): void;
}

export interface EventClientOptions {
  readonly lastEventId?: string;
  readonly token?: string;
  readonly method?: string;
}

/** Connects; resolves when the head of the answer is there. `url` is that of the server, with a query if wanted. */
export async function followEvents(url: string, options: EventClientOptions = {}): Promise<EventClient> {
  const target = new URL(url);
  target.pathname = "/api/v1/events";
  const outgoing = request(target, {
    method: options.method ?? "GET",
    agent: false,
    headers: {
      accept: "text/event-stream",
      ...(options.lastEventId !== undefined && { "last-event-id": options.lastEventId }),
      ...(options.token !== undefined && { authorization: `Bearer ${options.token}` }),
    },
  });
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once("response", resolve).once("error", reject).end();
  });
  const reading = new Reading(incoming);
  if (incoming.statusCode !== 200) await reading.ended;
  return Object.assign(reading, {
    status: incoming.statusCode ?? 0,
    close: () => void outgoing.destroy(),
    pause: () => void incoming.pause(),
    resume: () => void incoming.resume(),
  });
}

class Reading {
  readonly frames: SseFrame[] = [];
  readonly ended: Promise<void>;
  lastEventId = "";
  text = "";
  #rest = "";
  #taken = 0;
  #isOver = false;
  #news = Promise.withResolvers<void>();

  constructor(incoming: IncomingMessage) {
    incoming.setEncoding("utf8").on("data", (chunk: string) => this.#take(chunk));
    this.ended = new Promise((resolve) => {
      const end = (): void => {
        this.#isOver = true;
        this.#news.resolve();
        resolve();
      };
      incoming.once("close", end).once("error", end);
    });
  }

  async next(event?: string): Promise<SseFrame> {
    for (;;) {
      while (this.#taken < this.frames.length) {
        const frame = this.frames[this.#taken];
        this.#taken += 1;
        if (frame !== undefined && (event === undefined || frame.event === event)) return frame;
      }
      if (this.#isOver) throw new Error(`The stream ended before ${event ?? "anything else"} came.`);
      await this.#news.promise;
    }
  }

  #take(chunk: string): void {
    this.text += this.text.length < 10_000 ? chunk : "";
    const parts = (this.#rest + chunk).split("\n\n");
    this.#rest = parts.pop() ?? "";
    for (const part of parts) this.#parse(part);
    const { resolve } = this.#news;
    this.#news = Promise.withResolvers<void>();
    resolve();
  }

  #parse(part: string): void {
    const fields = new Map(
      part.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
    );
    this.lastEventId = fields.get("id") ?? this.lastEventId;
    const data = fields.get("data");
    if (data === undefined) return;
    const event = fields.get("event") ?? "message";
    this.frames.push({
      id: this.lastEventId,
      event,
      data: JSON.parse(data) as Record<string, unknown>,
    });
  }
}
