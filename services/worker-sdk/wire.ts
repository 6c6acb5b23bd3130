/**
 * The wire: one stateless `tools/call` of MCP 2026-07-28 per HTTP request. Headers and
 * `_meta` repeat each other on purpose; a server refuses the call when they differ.
 */
import type { ErrorKind } from "../contract/errors.ts";
import { MusterClientError } from "./errors.ts";
import type { TransportResponse } from "./transport.ts";

const PROTOCOL_VERSION = "2026-07-28";
const META = "io.modelcontextprotocol";

/** How we introduce ourselves to the server. */
export interface ClientInfo {
  readonly name: string;
  readonly version: string;
}

/** What an answer means for the call that was sent. */
export type Answer =
  | { readonly kind: "result"; readonly data: Record<string, unknown> }
  | { readonly kind: "refused"; readonly error: MusterClientError }
  /** Not an answer of Muster: a proxy's error page, a half-started process. Worth another try. */
  | { readonly kind: "broken"; readonly problem: string; readonly retryAfterMs?: number };

export function requestHeaders(tool: string, token: string | undefined): Record<string, string> {
  return {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": PROTOCOL_VERSION,
    "mcp-method": "tools/call",
    "mcp-name": tool,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
}

export function requestBody(id: number, tool: string, input: object, info: ClientInfo): string {
  return JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: {
      name: tool,
      arguments: input,
      _meta: {
        [`${META}/protocolVersion`]: PROTOCOL_VERSION,
        [`${META}/clientInfo`]: info,
        [`${META}/clientCapabilities`]: {},
      },
    },
  });
}

export function readAnswer(response: TransportResponse): Answer {
  const message = parseMessage(response);
  if (message === undefined || (!isObject(message["result"]) && !isObject(message["error"])))
    return readForeign(response);
  if (isObject(message["error"])) return readProtocolError(message["error"], response);
  const result = message["result"] as Record<string, unknown>;
  const data = isObject(result["structuredContent"]) ? result["structuredContent"] : parseText(result);
  if (result["isError"] === true) return { kind: "refused", error: readRefusal(data, result) };
  return data === undefined
    ? { kind: "broken", problem: "The result holds no data" }
    : { kind: "result", data };
}

/** The body is JSON, or one event of a stream that holds it: a server may choose, and says which. */
function parseMessage(response: TransportResponse): Record<string, unknown> | undefined {
  if (!(response.header("content-type") ?? "").startsWith("text/event-stream"))
    return parseObject(response.body);
  const events = response.body.split(/\r?\n\r?\n/).map((event) =>
    event
      .split(/\r?\n/)
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(5).trimStart())
      .join("\n"),
  );
  return events.map(parseObject).findLast((message) => message !== undefined && "id" in message);
}

function readForeign(response: TransportResponse): Answer {
  const problem = `HTTP ${response.status}, not an answer of Muster`;
  if (response.status >= 500 || response.status === 429 || response.status === 408 || response.status < 400) {
    const seconds = Number(response.header("retry-after"));
    return { kind: "broken", problem, ...(seconds > 0 ? { retryAfterMs: seconds * 1000 } : {}) };
  }
  return {
    kind: "refused",
    error: new MusterClientError(problem, { code: codeOfStatus(response.status), kind: "permanent" }),
  };
}

function readProtocolError(error: Record<string, unknown>, response: TransportResponse): Answer {
  const message = typeof error["message"] === "string" ? error["message"] : `HTTP ${response.status}`;
  if (response.status >= 500) return { kind: "broken", problem: message };
  const data = isObject(error["data"]) ? error["data"] : {};
  const fields = {
    code: codeOfStatus(response.status),
    kind: "permanent" as const,
    details: { ...data, rpcCode: error["code"] },
  };
  return { kind: "refused", error: new MusterClientError(message, { ...fields, ...knownFields(data) }) };
}

function readRefusal(
  data: Record<string, unknown> | undefined,
  result: Record<string, unknown>,
): MusterClientError {
  const body = data !== undefined && isObject(data["error"]) ? data["error"] : data;
  const text = textBlock(result) ?? "The server refused the call";
  if (body === undefined) return new MusterClientError(text, { code: "OPERATION_FAILED", kind: "permanent" });
  const details = isObject(body["details"]) ? { details: body["details"] } : {};
  const fields = { code: "OPERATION_FAILED", kind: "permanent" as const, ...details, ...knownFields(body) };
  return new MusterClientError(typeof body["message"] === "string" ? body["message"] : text, fields);
}

function knownFields(body: Record<string, unknown>): {
  code?: string;
  kind?: ErrorKind;
  hint?: string;
  retryAfterMs?: number;
} {
  const { code, kind, hint, retryAfterMs } = body;
  return {
    ...(typeof code === "string" ? { code } : {}),
    ...(kind === "transient" || kind === "permanent" || kind === "shedding" ? { kind } : {}),
    ...(typeof hint === "string" ? { hint } : {}),
    ...(typeof retryAfterMs === "number" ? { retryAfterMs } : {}),
  };
}

function codeOfStatus(status: number): string {
  if (status === 401) return "unauthorized";
  if (status === 403) return "forbidden";
  if (status === 413) return "payload_too_large";
  return status === 404 ? "not_found" : "VALIDATION_ERROR";
}

function textBlock(result: Record<string, unknown>): string | undefined {
  const blocks = Array.isArray(result["content"]) ? (result["content"] as unknown[]) : [];
  const texts = blocks.filter(isObject).map((block) => block["text"]);
  return texts.find((text) => typeof text === "string");
}

/** With `?results=text` the answer is compact JSON in the text block. */
function parseText(result: Record<string, unknown>): Record<string, unknown> | undefined {
  const text = textBlock(result);
  return text === undefined ? undefined : parseObject(text);
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
