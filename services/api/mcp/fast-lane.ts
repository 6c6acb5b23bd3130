/**
 * A short way for the call that makes up nearly all traffic: one unary `tools/call`
 * of the 2026 era with nothing unusual in it. The SDK spends more time on such a
 * request than the database does.
 *
 * The lane only ever recognises; it rejects nothing. Whatever is not exactly as a
 * well-behaved client sends it goes to the SDK, which then makes the error, so that
 * the protocol's rules live in one place.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
  type CallToolResult,
  type Implementation,
} from "@modelcontextprotocol/server";
import type { Exchange } from "../http/exchange.ts";

const MODERN = "2026-07-28";

export interface PlainCall {
  readonly id: string | number;
  readonly name: string;
  readonly args: unknown;
}

/** The call, if the whole request is beyond doubt; else null. */
export function recognisePlainCall(exchange: Exchange, body: unknown): PlainCall | null {
  if (!isRecord(body) || body["jsonrpc"] !== "2.0" || body["method"] !== "tools/call") return null;
  const { id, params } = body;
  if (typeof id !== "string" && !Number.isSafeInteger(id)) return null;
  if (!isRecord(params) || "inputResponses" in params || "requestState" in params || "task" in params)
    return null;
  const { name, arguments: args, _meta: meta } = params;
  if (typeof name !== "string" || (args !== undefined && !isRecord(args)) || !isPlainEnvelope(meta))
    return null;
  const headersAgree =
    exchange.header("mcp-protocol-version") === MODERN &&
    exchange.header("mcp-method") === "tools/call" &&
    exchange.header("mcp-name") === name;
  return headersAgree ? { id: id as string | number, name, args } : null;
}

/** The same answer that the SDK would have sent. */
export function plainAnswer(call: PlainCall, result: CallToolResult, info: Implementation): string {
  const { content, structuredContent, isError } = result;
  return JSON.stringify({
    jsonrpc: "2.0",
    id: call.id,
    result: {
      ...(isError && { isError }),
      content,
      ...(structuredContent !== undefined && { structuredContent }),
      resultType: "complete",
      _meta: { [SERVER_INFO_META_KEY]: info },
    },
  });
}

function isPlainEnvelope(meta: unknown): boolean {
  if (!isRecord(meta) || meta[PROTOCOL_VERSION_META_KEY] !== MODERN) return false;
  if (!isRecord(meta[CLIENT_CAPABILITIES_META_KEY])) return false;
  const info = meta[CLIENT_INFO_META_KEY];
  return (
    info === undefined ||
    (isRecord(info) && typeof info["name"] === "string" && typeof info["version"] === "string")
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
