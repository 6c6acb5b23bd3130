/** Writes answers: one head, one body, one write, with a known length. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";

/** JSON-RPC has no code of its own for what HTTP already says; this one is the SDK's too. */
const SERVER_ERROR = -32000;
/** How long the rest of a refused body is read and thrown away. */
const LINGER_MS = 2_000;

export interface RpcFault {
  readonly status: number;
  readonly code?: number;
  readonly message: string;
  readonly data?: Record<string, unknown>;
  readonly headers?: OutgoingHttpHeaders;
}

/** Sends a complete JSON answer. Does nothing when the client has gone. */
export function sendJson(
  response: ServerResponse,
  status: number,
  text: string,
  headers: OutgoingHttpHeaders = {},
): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    "cache-control": "no-store",
    ...headers,
  });
  response.end(text);
}

/** A JSON-RPC error that belongs to no request id, the way the protocol reports transport faults. */
export function rpcFaultText(fault: RpcFault): string {
  const { code = SERVER_ERROR, message, data } = fault;
  return JSON.stringify({ jsonrpc: "2.0", error: { code, message, ...(data && { data }) }, id: null });
}

/** Sends a transport fault of `/mcp`. */
export function sendRpcFault(response: ServerResponse, fault: RpcFault): void {
  sendJson(response, fault.status, rpcFaultText(fault), fault.headers);
}

/**
 * Answers a body that is too large, and reads on for a moment before it hangs up.
 * Closing at once resets the connection while the client still writes, and most
 * clients then report the reset and never see the answer.
 */
export function refuseBody(request: IncomingMessage, response: ServerResponse, text: string): void {
  if (response.destroyed || response.headersSent) return;
  response.shouldKeepAlive = false;
  response.writeHead(413, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.write(text);
  const timer = setTimeout(finish, LINGER_MS);
  request.once("end", finish);
  request.once("close", finish);
  request.resume();

  function finish(): void {
    clearTimeout(timer);
    response.end();
  }
}
