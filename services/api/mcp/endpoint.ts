/**
 * `POST /mcp`: one URL for both protocol eras.
 *
 *   body -> which era? -> 2026, plain tools/call      -> fast lane
 *                      -> 2026, anything else         -> the SDK's per-request handler
 *                      -> 2025 and older              -> own leg, JSON answers
 *
 * Nothing is kept between requests, so any replica can serve any of them. What looks
 * like a session is a signed name (see `session.ts`). GET and DELETE answer 405: there
 * is no stream to resume, and nothing stored that a client could end. A claim does not
 * end with a polite goodbye either; it lapses, or is released.
 */
import {
  classifyInboundRequest,
  createMcpHandler,
  INVALID_REQUEST,
  isInitializeRequest,
  isJsonContentType,
  PARSE_ERROR,
  type Implementation,
} from "@modelcontextprotocol/server";
import type { Toolset } from "../../contract/operation.ts";
import type { Caller, Engine } from "../../engine/engine.ts";
import { type Admission, callerOf } from "../auth/admission.ts";
import type { Challenges } from "../auth/challenge.ts";
import { missingScopes, scopeFault, sendScopeChallenge } from "../auth/step-up.ts";
import type { Log } from "../../runtime/log.ts";
import type { Exchange } from "../http/exchange.ts";
import { readBody } from "../http/read-body.ts";
import { refuseBody, rpcFaultText, sendJson, sendRpcFault } from "../http/reply.ts";
import { sendWebResponse } from "../http/web-response.ts";
import type { Sessions } from "../session.ts";
import { callTool, type ResultForm } from "./call-tool.ts";
import { plainAnswer, recognisePlainCall } from "./fast-lane.ts";
import { ItemEventBus } from "./item-event-bus.ts";
import { readItemResource } from "./item-resources.ts";
import { listenedUris, listenToItems } from "./listen.ts";
import { legacyIdentity, modernIdentity } from "./identity.ts";
import { serveLegacy } from "./legacy-leg.ts";
import { createProtocolServer, unknownTool, type ToolHandlers } from "./protocol-server.ts";
import { TOOLSETS, type Toolbox } from "./tools.ts";

export interface McpEndpoint {
  /** Answers one request; never rejects for what a client sent. */
  handle(exchange: Exchange, admission: Admission): Promise<void>;
  /** Ends what would go on for ever: streams of those who listen. */
  drain(): void;
  /** Ends what is still being answered. */
  close(): Promise<void>;
}

export interface McpEndpointOptions {
  readonly engine: Engine;
  readonly log: Log;
  readonly toolbox: Toolbox;
  readonly sessions: Sessions;
  readonly info: Implementation;
  readonly bodyLimitBytes: number;
  /** False sends every call through the SDK: for comparing the two. */
  readonly fastLane: boolean;
  readonly challenges: Challenges;
}

/** What the URL asks for. */
interface View {
  readonly toolset: Toolset;
  readonly form: ResultForm;
}

/** Builds the endpoint; one per process. */
export function createMcpEndpoint(options: McpEndpointOptions): McpEndpoint {
  const { log, info, sessions, toolbox } = options;
  const bus = new ItemEventBus(options.engine, log);
  const draining = new AbortController();
  // The SDK builds a server per request from nothing but the request, so what we know of it is found again here.
  const handlersOf = new WeakMap<Request, ToolHandlers>();
  const modern = createMcpHandler(
    ({ requestInfo }) => {
      const handlers = requestInfo && handlersOf.get(requestInfo);
      if (handlers === undefined) throw new Error("The SDK asked for a server without its request.");
      return createProtocolServer(info, handlers);
    },
    { legacy: "reject", bus, onerror: (error) => log.debug({ err: error }, "mcp request refused") },
  );

  return {
    async handle(exchange, admission) {
      const { response } = exchange;
      const body = await readJson(exchange, options.bodyLimitBytes);
      if (body === NOTHING) return;
      const view = readView(exchange.query);
      if ("message" in view) return sendRpcFault(response, { status: 400, code: INVALID_REQUEST, ...view });

      const { kind } = classifyInboundRequest({ httpMethod: "POST", body, ...standardHeaders(exchange) });
      const legacy = kind === "legacy";
      const identity = legacy ? legacyIdentity(exchange, body, sessions) : modernIdentity(exchange, body);
      if ("message" in identity) return sendRpcFault(response, identity);
      const caller = callerOf(exchange, admission, identity);
      const missing = missingScopes(admission, body, (name) => toolbox.find(view.toolset, name));
      if (missing !== null) {
        const error = scopeFault(missing);
        options.engine.noteRefusal(missing.operation, caller, error);
        return sendScopeChallenge(exchange, admission, missing, error, options.challenges);
      }

      const plain = legacy || !options.fastLane ? null : recognisePlainCall(exchange, body);
      const operation = plain && toolbox.find(view.toolset, plain.name);
      if (plain && operation) {
        const result = await callTool(operation, plain.args, { ...options, caller, form: view.form });
        return sendJson(response, 200, plainAnswer(plain, result, info), { "x-request-id": exchange.id });
      }
      const handlers = handlersFor(options, view, caller, legacy);
      if (legacy) return answerLegacy(exchange, body, handlers);
      const uris = listenedUris(body);
      if (uris === null) return answerModern(exchange, body, handlers);
      const listening = { uris, body, caller, admission, draining: draining.signal };
      return listenToItems(exchange, options.engine, bus, listening, (signal) =>
        answerModern(exchange, body, handlers, signal),
      );
    },
    drain: () => draining.abort(),
    close: () => modern.close(),
  };

  async function answerModern(
    exchange: Exchange,
    body: unknown,
    handlers: ToolHandlers,
    signal: AbortSignal = exchange.signal,
  ): Promise<void> {
    const request = webRequest(exchange, signal);
    handlersOf.set(request, handlers);
    const answer = await modern.fetch(request, { parsedBody: body });
    return sendWebResponse(exchange.response, answer, { "x-request-id": exchange.id });
  }

  async function answerLegacy(exchange: Exchange, body: unknown, handlers: ToolHandlers): Promise<void> {
    const answer = await serveLegacy(createProtocolServer(info, handlers), webRequest(exchange), body);
    if (answer === null) return;
    const minted = isInitializeRequest(body) && answer.ok;
    await sendWebResponse(exchange.response, answer, {
      "x-request-id": exchange.id,
      ...(minted && { "mcp-session-id": sessions.mint(body.params.clientInfo) }),
    });
  }
}

const NOTHING = Symbol("answered already");

/** The parsed body, or NOTHING when the request has been answered or its client is gone. */
async function readJson(exchange: Exchange, limitBytes: number): Promise<unknown> {
  const { request, response } = exchange;
  if (request.method !== "POST") {
    sendRpcFault(response, {
      status: 405,
      message: "Method not allowed: /mcp takes POST.",
      headers: { allow: "POST" },
    });
    return NOTHING;
  }
  if (!isJsonContentType(exchange.header("content-type"))) {
    sendRpcFault(response, {
      status: 415,
      message: "Unsupported media type: send Content-Type: application/json.",
    });
    return NOTHING;
  }
  const body = await readBody(request, limitBytes);
  if (body.kind === "gone") return NOTHING;
  if (body.kind === "too_large") {
    const message = `The request body is larger than ${limitBytes} bytes. Split the batch or shorten the text.`;
    refuseBody(
      request,
      response,
      rpcFaultText({ status: 413, code: INVALID_REQUEST, message, data: { limit_bytes: limitBytes } }),
    );
    return NOTHING;
  }
  try {
    return JSON.parse(body.text) as unknown;
  } catch {
    sendRpcFault(response, {
      status: 400,
      code: PARSE_ERROR,
      message: "Parse error: the body is not valid JSON.",
    });
    return NOTHING;
  }
}

function readView(query: URLSearchParams): View | { readonly message: string } {
  const asked = query.get("toolset") ?? "all";
  const toolset = TOOLSETS.find((name) => name === asked);
  if (toolset === undefined) return { message: `Unknown toolset. Use one of: ${TOOLSETS.join(", ")}.` };
  const form = query.get("results") ?? "structured";
  if (form !== "structured" && form !== "text")
    return { message: "Unknown results. Use structured or text." };
  return { toolset, form };
}

function handlersFor(options: McpEndpointOptions, view: View, caller: Caller, legacy: boolean): ToolHandlers {
  const { toolbox } = options;
  return {
    list: () => toolbox.list(view.toolset),
    async call(name, args) {
      const operation = toolbox.find(view.toolset, name);
      if (operation === undefined) throw unknownTool(name);
      return callTool(operation, args, { ...options, caller, form: view.form });
    },
    resources: { listening: !legacy, read: (uri) => readItemResource(options.engine, uri, caller) },
  };
}

function standardHeaders(exchange: Exchange) {
  const version = exchange.header("mcp-protocol-version");
  const method = exchange.header("mcp-method");
  const name = exchange.header("mcp-name");
  return {
    ...(version !== undefined && { protocolVersionHeader: version }),
    ...(method !== undefined && { mcpMethodHeader: method }),
    ...(name !== undefined && { mcpNameHeader: name }),
  };
}

/**
 * The request as the SDK wants it, without the body, which has been read. Answers are
 * always JSON, so a client that only accepts that is welcome too.
 */
function webRequest(exchange: Exchange, signal: AbortSignal = exchange.signal): Request {
  const headers = new Headers({
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
  });
  for (const name of ["mcp-protocol-version", "mcp-method", "mcp-name", "last-event-id"]) {
    const value = exchange.header(name);
    if (value !== undefined) headers.set(name, value);
  }
  return new Request(exchange.url, { method: "POST", headers, signal });
}
