/** A receiver of webhooks that answers as it is told to, and remembers what came. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** `hang` never answers. */
export type Behaviour = { readonly status: number; readonly location?: string } | "hang";

export interface WebhookReceiver extends AsyncDisposable {
  readonly url: string;
  /** Everything that came, answered or not. */
  readonly received: Received[];
  /** How it answers from now on. */
  behave(how: Behaviour): void;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: Received[] = [];
  let behaviour: Behaviour = { status: 204 };
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      received.push({ path: request.url ?? "", headers: request.headers, body });
      if (behaviour === "hang") return;
      const { status, location } = behaviour;
      response.writeHead(status, location === undefined ? {} : { location }).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    behave: (how) => void (behaviour = how),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}
