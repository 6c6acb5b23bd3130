/** What happens to items, as the SDK wants to hear it. */
import type { ServerEventBus } from "@modelcontextprotocol/server";
import type { Engine } from "../../engine/engine.ts";
import type { FeedStream } from "../../engine/events/event-feed.ts";
import type { Log } from "../../runtime/log.ts";
import { ITEM_SCHEME } from "./item-resources.ts";

type Listener = Parameters<ServerEventBus["subscribe"]>[0];

/** Follows events only while somebody listens. */
export class ItemEventBus implements ServerEventBus {
  readonly #engine: Pick<Engine, "events">;
  readonly #log: Pick<Log, "warn">;
  readonly #listeners = new Set<Listener>();
  #beginning = 0;
  #following: { readonly stop: AbortController; readonly stream: Promise<FeedStream> } | null = null;

  constructor(engine: Pick<Engine, "events">, log: Pick<Log, "warn">) {
    this.#engine = engine;
    this.#log = log;
  }

  /**
   * Runs `listen`, which may subscribe, once nothing is missed that happens from now on: a client that
   * reads after it was told that it listens must hear of everything behind what it read.
   */
  async whileFollowing<T>(listen: () => Promise<T>): Promise<T> {
    this.#beginning += 1;
    try {
      this.#following ??= this.#follow();
      await this.#following.stream;
      return await listen();
    } finally {
      this.#beginning -= 1;
      this.#rest();
    }
  }

  #rest(): void {
    if (this.#listeners.size > 0 || this.#beginning > 0) return;
    this.#following?.stop.abort();
    this.#following = null;
  }

  publish(event: Parameters<Listener>[0]): void {
    for (const listener of this.#listeners) listener(event);
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      this.#rest();
    };
  }

  #follow() {
    const stop = new AbortController();
    const stream = this.#engine.events.open(null);
    const following = { stop, stream };
    stream
      .then((opened) => this.#pass(opened, stop.signal))
      .catch((error: unknown) => this.#log.warn({ err: error }, "those who listen to items hear nothing"))
      .finally(() => {
        if (this.#following === following) this.#following = null;
      });
    return following;
  }

  async #pass(stream: FeedStream, signal: AbortSignal): Promise<void> {
    try {
      for (let events = await stream.next(signal); events !== null; events = await stream.next(signal)) {
        const ids = new Set(events.flatMap(({ itemId }) => (itemId === null ? [] : [itemId])));
        for (const id of ids) this.publish({ kind: "resource_updated", uri: `${ITEM_SCHEME}${id}` });
      }
    } finally {
      stream.close();
    }
  }
}
