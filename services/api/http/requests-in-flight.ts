/** Counts the requests that are being answered, so that stopping can wait for them. */
import type { ServerResponse } from "node:http";

export class RequestsInFlight {
  readonly #responses = new Set<ServerResponse>();
  #onIdle: (() => void) | undefined;

  /** Counts the request until its answer was sent or its connection ended. */
  add(response: ServerResponse): void {
    this.#responses.add(response);
    response.once("close", () => {
      this.#responses.delete(response);
      if (this.#responses.size === 0) this.#onIdle?.();
    });
  }

  /** Tells clients that keep their connection to use another one after this answer. */
  endConnectionsAfterAnswer(): void {
    for (const response of this.#responses) response.shouldKeepAlive = false;
  }

  /** Resolves when nothing is left or the time is over; says which. */
  settle(withinMs: number): Promise<boolean> {
    if (this.#responses.size === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), withinMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}
