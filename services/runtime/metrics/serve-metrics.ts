/** `GET /metrics`, and the probe `/livez`, on a port of their own: whoever may scrape need not be able to call. */
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
    const path = request.method === "GET" ? request.url?.split("?", 1)[0] : undefined;
    const answer = (status: number, type: string, body: string): void => {
      response.writeHead(status, { "content-type": type }).end(body);
    };
    // A scheduler listens nowhere else, and whoever keeps it alive has to ask somewhere.
    if (path === "/livez") return answer(200, "application/json", '{"live":true}');
    if (path !== "/metrics")
      return answer(404, "text/plain", "There are GET /metrics and GET /livez here.\n");
    scrape().then(
      (text) => answer(200, registry.contentType, text),
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
