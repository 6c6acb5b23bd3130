/** MCP requests by hand, for what a well-behaved client would never send. */
import { request, type IncomingHttpHeaders } from "node:http";

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; throws for what is none. */
  json(): RpcAnswer;
}

interface RpcAnswer {
  readonly id?: unknown;
  readonly result?: Record<string, unknown> & {
    readonly isError?: boolean;
    readonly content?: readonly { readonly text: string }[];
    readonly structuredContent?: Record<string, unknown>;
  };
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: Record<string, unknown>;
  };
}

export interface RawRequest {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
}

/** One HTTP request with exactly these headers; `fetch` would not let a test set Host. */
export function send(
  url: string,
  { method = "POST", headers = {}, body, signal }: RawRequest,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, signal, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.once("error", reject);
      incoming.once("end", () => {
        const text = Buffer.concat(chunks).toString();
        const json = (): RpcAnswer => JSON.parse(text) as RpcAnswer;
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, json });
      });
    });
    outgoing.once("error", reject);
    outgoing.end(body);
  });
}

const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** A request of the 2025 era. */
export function legacy(
  mcpUrl: string,
  method: string,
  params: unknown = {},
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<RawAnswer> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return send(mcpUrl, { headers: { ...JSON_HEADERS, ...headers }, body, ...(signal && { signal }) });
}

/** The handshake of the 2025 era; returns the session header. */
export async function initialize(mcpUrl: string, headers: Record<string, string> = {}): Promise<string> {
  const answer = await legacy(mcpUrl, "initialize", INITIALIZE_PARAMS, headers);
  return String(answer.headers["mcp-session-id"]);
}

export const INITIALIZE_PARAMS = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "raw", version: "1.0" },
};

/** A request of the 2026 era, with its envelope and headers, not sent yet. */
export function modernMessage(
  method: string,
  params: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): { readonly headers: Record<string, string>; readonly body: string } {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1.0" },
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { _meta: meta, ...params } });
  const { name } = params;
  return {
    headers: {
      ...JSON_HEADERS,
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof name === "string" && { "mcp-name": name }),
      ...headers,
    },
    body,
  };
}

/** A request of the 2026 era. */
export function modern(
  mcpUrl: string,
  method: string,
  params: Record<string, unknown> = {},
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<RawAnswer> {
  return send(mcpUrl, { ...modernMessage(method, params, headers), ...(signal && { signal }) });
}

/** A tool call in either era. */
export function callTool(
  era: "legacy" | "modern",
  mcpUrl: string,
  name: string,
  args: Record<string, unknown>,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<RawAnswer> {
  const speak = era === "legacy" ? legacy : modern;
  return speak(mcpUrl, "tools/call", { name, arguments: args }, headers, signal);
}
