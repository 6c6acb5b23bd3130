/** `GET /metrics` on a port of its own: whoever may scrape need not be able to call. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Metrics } from "./metrics.ts";
import type { Log } from "../log.ts";

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Goes on without, and says so, when the port is taken: work matters more than its measuring. */
export async function serveMetrics(
  { registry, scrape }: Pick<Metrics, "registry" | "scrape">,
  {
    host,
    port,
    log,
  }: { readonly host: string; readonly port: number; readonly log: Pick<Log, "info" | "warn"> },
): Promise<MetricsServer | null> {
  const server = createServer((request, response) => {
    const isOurs = request.method === "GET" && request.url?.split("?", 1)[0] === "/metrics";
    const text = isOurs ? scrape() : Promise.resolve("There is only GET /metrics here.\n");
    text.then(
      (body) => {
        response.writeHead(isOurs ? 200 : 404, {
          "content-type": isOurs ? registry.contentType : "text/plain",
        });
        response.end(body);
      },
      () => response.writeHead(500).end(),
    );
  });
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    log.warn(
      { err: error, port },
      "no metrics: their port is not free; set MUSTER_METRICS_PORT to another, or to off",
    );
    return null;
  }
  const { port: bound } = server.address() as AddressInfo;
  log.info({ port: bound }, "serving metrics");
  return {
    port: bound,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
