/** What one client may cost: time-outs and caps of the HTTP server. */
import { createServer, type RequestListener, type Server } from "node:http";
import type { Socket } from "node:net";

/** A request must have arrived in full by then; how long it is worked on is another matter. */
const REQUEST_ARRIVES_WITHIN_MS = 30_000;
const HEADERS_ARRIVE_WITHIN_MS = 15_000;
/** Longer than the idle time-out of common load balancers, so that they close first and lose no request. */
const KEEP_ALIVE_MS = 65_000;
/** No byte in either direction for so long: a reader that stalled. More than twice the longest wait. */
const SILENT_SOCKET_MS = 120_000;
const CONNECTIONS_MAX = 8_192;
const HEADERS_MAX = 100;
/** Requests that one connection may have sent ahead of their answers. */
const PIPELINED_MAX = 16;
const EXPIRY_CHECK_MS = 5_000;

/** A server whose clients can neither trickle bytes nor hoard connections. */
export function createLimitedServer(listener: RequestListener): Server {
  const open = new WeakMap<Socket, number>();
  const server = createServer(
    {
      requestTimeout: REQUEST_ARRIVES_WITHIN_MS,
      headersTimeout: HEADERS_ARRIVE_WITHIN_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: EXPIRY_CHECK_MS,
      noDelay: true,
    },
    (request, response) => {
      const { socket } = request;
      const pending = (open.get(socket) ?? 0) + 1;
      if (pending > PIPELINED_MAX) {
        socket.destroy();
        return;
      }
      open.set(socket, pending);
      response.once("close", () => open.set(socket, (open.get(socket) ?? 1) - 1));
      listener(request, response);
    },
  );
  server.maxConnections = CONNECTIONS_MAX;
  server.maxHeadersCount = HEADERS_MAX;
  server.timeout = SILENT_SOCKET_MS;
  return server;
}
