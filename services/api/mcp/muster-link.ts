/**
 * Calls to a running Muster, for a program that speaks for one MCP client.
 *
 * Several addresses are tried in turn, beginning with the one that answered last. A
 * call goes to another address only if that cannot make it happen twice: it never left
 * this machine, or it carries a requestId, or it only reads.
 */
import { setTimeout as pause } from "node:timers/promises";
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
} from "@modelcontextprotocol/server";
import { fault } from "../../contract/errors.ts";
import type { ClientLabel } from "../session.ts";

export interface LinkOptions {
  /** Base addresses or full `/mcp` URLs; a query (`?toolset=worker`) is kept. */
  readonly urls: readonly string[];
  /** The session of the client that is spoken for; the same on every connection and replica. */
  readonly session: string;
  readonly token?: string | undefined;
  readonly fetch: typeof fetch;
}

export interface LinkCall {
  readonly method: "tools/list" | "tools/call" | "resources/read";
  readonly params: Readonly<Record<string, unknown>>;
  readonly client: ClientLabel | null;
  /** Whether the call may be sent again without knowing what became of the first. */
  readonly repeatable: boolean;
  /** Whether to wait a moment for a server that restarts. */
  readonly patient: boolean;
  readonly signal: AbortSignal;
}

export interface MusterLink {
  /**
   * Sends one call and returns its result.
   * @throws ProtocolError what the server answered; MusterError `unavailable` when none did.
   */
  send(call: LinkCall): Promise<Record<string, unknown>>;
}

const MODERN = "2026-07-28";
/** Pauses between the rounds over all addresses: enough for a server that restarts. */
const ROUND_PAUSES_MS = [200, 800, 2_000];
/** Failures that happen before a byte of the request was sent. */
const NEVER_SENT = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Opens nothing yet; every call finds an address that answers. */
export function createMusterLink(options: LinkOptions): MusterLink {
  const urls = options.urls.map(endpointUrl);
  if (urls.length === 0) throw new Error("At least one Muster address is needed.");
  let preferred = 0;
  let nextId = 1;

  /** One try at one address: the result, or null when another try is in order. */
  async function tryOnce(url: URL, call: LinkCall): Promise<Record<string, unknown> | null> {
    let response: Response;
    let text: string;
    try {
      response = await options.fetch(url, {
        method: "POST",
        headers: headersOf(call, options),
        body: JSON.stringify({ jsonrpc: "2.0", id: nextId++, method: call.method, params: paramsOf(call) }),
        signal: call.signal,
      });
      text = await response.text();
    } catch (error) {
      call.signal.throwIfAborted();
      if (call.repeatable || NEVER_SENT.has(causeCode(error))) return null;
      throw fault(
        "unavailable",
        "The connection broke while the call was running; it may have taken effect.",
        {
          hint: "Read the current state before you call again, and pass a requestId: then repeating is safe.",
          cause: error,
        },
      );
    }
    // A proxy in front of a stopped server: nobody of ours has seen the call.
    if (response.status === 502 || response.status === 503) return null;
    return readAnswer(text, response.status);
  }

  return {
    async send(call) {
      for (const wait of call.patient ? [0, ...ROUND_PAUSES_MS] : [0]) {
        if (wait > 0) await pause(wait, undefined, { signal: call.signal });
        for (let offset = 0; offset < urls.length; offset++) {
          const index = (preferred + offset) % urls.length;
          const url = urls[index];
          const result = url && (await tryOnce(url, call));
          if (!result || (isDraining(result) && urls.length > 1)) continue;
          preferred = index;
          return result;
        }
      }
      const tried = urls.map(({ origin }) => origin).join(", ");
      throw fault("unavailable", `No Muster answers at ${tried}.`, {
        hint: "Start it with `muster start`, or set MUSTER_URL; then send the same call with the same requestId.",
      });
    },
  };
}

function endpointUrl(address: string): URL {
  const url = new URL(address);
  if (url.pathname === "/") url.pathname = "/mcp";
  return url;
}

function headersOf(call: LinkCall, { session, token }: LinkOptions): Record<string, string> {
  // The header repeats what the call is about.
  const name = call.params["name"] ?? call.params["uri"];
  return {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": MODERN,
    "mcp-method": call.method,
    ...(typeof name === "string" && { "mcp-name": name }),
    "muster-session": session,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
}

function paramsOf(call: LinkCall): Record<string, unknown> {
  const envelope = {
    [PROTOCOL_VERSION_META_KEY]: MODERN,
    [CLIENT_CAPABILITIES_META_KEY]: {},
    ...(call.client && { [CLIENT_INFO_META_KEY]: call.client }),
  };
  return { ...call.params, _meta: envelope };
}

interface RpcAnswer {
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

function readAnswer(text: string, status: number): Record<string, unknown> {
  let answer: RpcAnswer;
  try {
    answer = JSON.parse(text) as RpcAnswer;
  } catch {
    throw fault("unavailable", `What answers there is not Muster (HTTP ${status}).`, {
      hint: "Check MUSTER_URL.",
    });
  }
  if (answer.error) throw new ProtocolError(answer.error.code, answer.error.message, answer.error.data);
  const { resultType: _resultType, _meta, ...result } = answer.result ?? {};
  return result;
}

/** The server is stopping and has done nothing; a sibling can. */
function isDraining({ structuredContent }: Record<string, unknown>): boolean {
  return (structuredContent as { error?: { code?: unknown } } | undefined)?.error?.code === "draining";
}

function causeCode(error: unknown): string {
  const { cause } = error as { cause?: { code?: unknown } };
  return typeof cause?.code === "string" ? cause.code : "";
}
