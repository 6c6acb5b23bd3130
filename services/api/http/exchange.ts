/** One HTTP request, its answer, and the moment its caller is gone. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";

export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Names this request in the log, in the answer's `x-request-id` and in an INTERNAL_ERROR. */
  readonly id: string = randomUUID();
  readonly path: string;
  readonly #search: string;
  #gone: AbortController | undefined;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.request = request;
    this.response = response;
    const target = originForm(request.url ?? "/");
    const mark = target.indexOf("?");
    this.path = mark === -1 ? target : target.slice(0, mark);
    this.#search = mark === -1 ? "" : target.slice(mark);
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.#search);
  }

  /** Path and query on a fixed base: routing never depends on what the client calls this server. */
  get url(): string {
    return `http://muster.invalid${this.path}${this.#search}`;
  }

  /**
   * Aborted when the client hangs up before it was answered; never after. Made only
   * when somebody asks, since most calls end long before anybody could hang up.
   */
  get signal(): AbortSignal {
    return (this.#gone ??= this.#watch()).signal;
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  #watch(): AbortController {
    const controller = new AbortController();
    const { response } = this;
    const onClose = (): void => {
      if (!response.writableEnded) controller.abort(new Error("The client closed the connection."));
    };
    if (response.destroyed) onClose();
    else response.once("close", onClose);
    return controller;
  }
}

/** Proxies may send the whole URL, and `OPTIONS *` has none; both become a path. */
function originForm(target: string): string {
  if (target.startsWith("/")) return target;
  if (!URL.canParse(target)) return `/${target}`;
  const { pathname, search } = new URL(target);
  return pathname.startsWith("/") ? pathname + search : "/";
}
