/**
 * The API process: one HTTP server for MCP and REST, thin over the engine.
 *
 *   socket limits -> Host and Origin -> auth/gate.ts -> /mcp           -> mcp/endpoint.ts
 *                                                    -> /api/v1/events -> events/event-streams.ts
 *                                                    -> anything else  -> rest/app.ts
 *
 * A server may listen before it can serve: until its health has started, only the probes
 * are answered, so that whoever waits for it is told what it waits for.
 *
 * Stopping: no new connections, `/readyz` says so, waiting claims are answered by the
 * engine's drain, what runs may finish until the deadline, the rest is cut off. A call
 * that is cut off after its commit is answered when the caller repeats it.
 */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { Hono } from "hono";
import { REQUEST_BODY_SIZE_MAX_BYTES } from "../contract/limits.ts";
import type { Counters } from "../coordination/port.ts";
import type { Engine } from "../engine/engine.ts";
import type { Credentials } from "../engine/tokens/credentials.ts";
import type { Health } from "../runtime/health.ts";
import type { Log } from "../runtime/log.ts";
import { OPEN, type Admission } from "./auth/admission.ts";
import { createChallenges } from "./auth/challenge.ts";
import { createGate, type GateOptions, isRefusal } from "./auth/gate.ts";
import { createMetadata } from "./auth/metadata.ts";
import { sendGateRefusal } from "./auth/refuse.ts";
import { createEventStreams, EVENTS_PATH, type StreamLimits } from "./events/event-streams.ts";
import { Exchange } from "./http/exchange.ts";
import { createGuard, type Refusal } from "./http/guard.ts";
import { sendJson, sendRpcFault } from "./http/reply.ts";
import { RequestsInFlight } from "./http/requests-in-flight.ts";
import { createLimitedServer } from "./http/server-limits.ts";
import { sendWebResponse } from "./http/web-response.ts";
import { createMcpEndpoint } from "./mcp/endpoint.ts";
import { serverInfo } from "./mcp/protocol-server.ts";
import { createToolbox } from "./mcp/tools.ts";
import { createRestApp, type RestEnv } from "./rest/app.ts";
import { PUBLIC_PATHS } from "./rest/static-routes.ts";
import { plainProblem } from "./rest/problem.ts";
import type { About } from "./rest/status-page.ts";
import { createSessions, type SecretKey } from "./session.ts";

export interface ApiConfig {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Names besides loopback's that clients may use for this server. */
  readonly allowedHosts: readonly string[];
  readonly publicUrl?: string;
  /** Shared by all replicas: a session signed by one is known to all. Asked for when first needed. */
  readonly secretKey: SecretKey;
  readonly version: string;
  readonly bodyLimitBytes?: number;
  /** False sends plain calls through the SDK too. */
  readonly fastLane?: boolean;
  readonly streamLimits?: Partial<StreamLimits>;
}

/** Who may call. Without it nobody is asked, which is for loopback only. */
export interface ApiAuth extends Pick<GateOptions, "mode" | "limits" | "trustedProxies"> {
  readonly credentials: Credentials | null;
  readonly counters: Counters | null;
  /** Issuers whose access tokens open the doors. */
  readonly authorizationServers: readonly string[];
}

export interface ApiOptions {
  readonly engine: Engine;
  readonly log: Log;
  readonly config: ApiConfig;
  readonly health: Health;
  readonly about: About;
  readonly auth?: ApiAuth;
  /** Told of every answer, by the kind of its address, once it was sent. */
  readonly onAnswered?: (route: AnsweredRoute, status: number, seconds: number) => void;
}

export interface Api {
  /** Starts to serve. Rejects when the port is taken. */
  listen(): Promise<{ readonly url: string; readonly port: number }>;
  /** Stops to serve; resolves when every request was answered or cut off. Leaves the engine open. Further calls join. */
  close(deadlineMs: number): Promise<void>;
}

/** Builds the API; nothing listens yet. */
export function createApi(options: ApiOptions): Api {
  const { engine, log, config, health, auth = NOBODY_ASKED } = options;
  let url = "";
  let draining = false;
  let stopped: Promise<void> | undefined;
  const guard = createGuard({
    host: config.host,
    publicUrl: config.publicUrl,
    allowedHosts: config.allowedHosts,
  });
  const baseUrl = (): string => config.publicUrl?.replace(/\/$/, "") ?? url;
  const { gate, metadata, mcp, rest, streams } = createDoors(options, auth, baseUrl);
  const inFlight = new RequestsInFlight();

  const answer = async (exchange: Exchange): Promise<void> => {
    const refusal = guard(exchange.request.headers);
    if (refusal !== null) return refuse(exchange, refusal);
    if (health.phase() === "starting" && !PROBES.has(exchange.path)) return refuseWhileStarting(exchange);
    if (metadata?.answer(exchange) === true) return;
    const admission = PUBLIC.has(exchange.path) ? OPEN : await gate(exchange);
    if (isRefusal(admission)) return sendGateRefusal(exchange, admission);
    if (exchange.path === "/mcp") return mcp.handle(exchange, admission);
    if (exchange.path === EVENTS_PATH) return streams.handle(exchange, admission);
    return answerRest(exchange, rest, admission);
  };
  const server = createLimitedServer((request, response) => {
    inFlight.add(response);
    if (draining) response.shouldKeepAlive = false;
    const exchange = new Exchange(request, response);
    if (options.onAnswered !== undefined) timeAnswer(exchange, options.onAnswered);
    answer(exchange).catch((error: unknown) => fail(exchange, error, log));
  });

  async function stop(deadlineMs: number): Promise<void> {
    if (!server.listening) return;
    draining = true;
    health.draining();
    const closed = once(server, "close");
    server.close();
    inFlight.endConnectionsAfterAnswer();
    engine.drain();
    mcp.drain();
    const finished = await inFlight.settle(deadlineMs);
    if (!finished) log.warn("cut off requests that were still running at the deadline");
    await mcp.close();
    server.closeAllConnections();
    await closed;
  }

  return {
    async listen() {
      server.listen(config.port, config.host);
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      const host = config.host.includes(":") ? `[${config.host}]` : config.host;
      url = `http://${host}:${port}`;
      return { url, port };
    },
    close: (deadlineMs) => (stopped ??= stop(deadlineMs)),
  };
}

function createDoors(
  { engine, log, config, health, about }: ApiOptions,
  auth: ApiAuth,
  baseUrl: () => string,
) {
  const challenges = createChallenges(baseUrl);
  const gate = createGate({
    ...auth,
    challenges,
    onRefused: ({ credential, requestId, error }) =>
      engine.noteRefusal("any", { credential, requestId, session: null }, error),
  });
  const metadata = auth.mode === "off" ? null : createMetadata(baseUrl, auth.authorizationServers);
  const mcp = createMcpEndpoint({
    engine,
    log,
    challenges,
    toolbox: createToolbox(),
    sessions: createSessions(config.secretKey),
    info: serverInfo(config.version),
    bodyLimitBytes: config.bodyLimitBytes ?? REQUEST_BODY_SIZE_MAX_BYTES,
    fastLane: config.fastLane ?? true,
  });
  const rest = createRestApp({
    engine,
    log,
    health,
    // How much there is to do is nobody's business who was not asked who they are.
    about: auth.mode === "off" ? about : { ...about, counts: () => Promise.resolve({}) },
    version: config.version,
    baseUrl,
    challenges,
  });
  const streams = createEventStreams({ feed: engine.events, log, limits: config.streamLimits ?? {} });
  return { gate, metadata, mcp, rest, streams };
}

const NOBODY_ASKED: ApiAuth = {
  mode: "off",
  credentials: null,
  counters: null,
  limits: { perCredential: null, perAddress: null },
  trustedProxies: 0,
  authorizationServers: [],
};

/** What says nothing about anybody's work: the page, the probes, what clients read before they have a credential. */
const PUBLIC = new Set(["/", "/livez", "/readyz", ...PUBLIC_PATHS]);

/** Addresses by kind: a closed set, whatever clients ask for. */
export type AnsweredRoute = "mcp" | "events" | "rest" | "probe" | "other";

function timeAnswer({ path, response }: Exchange, tell: NonNullable<ApiOptions["onAnswered"]>): void {
  const startedAt = performance.now();
  response.once("close", () =>
    tell(kindOf(path), response.statusCode, (performance.now() - startedAt) / 1_000),
  );
}

function kindOf(path: string): AnsweredRoute {
  if (path === "/mcp") return "mcp";
  if (path === EVENTS_PATH) return "events";
  if (path.startsWith("/api/v1/")) return "rest";
  return PROBES.has(path) ? "probe" : "other";
}

/** What is answered from the first moment on: who asks wants to know why nothing else is. */
const PROBES = new Set(["/livez", "/readyz"]);

async function refuseWhileStarting(exchange: Exchange): Promise<void> {
  const message = "This server is starting: it waits for its database. Try again; /readyz says when.";
  if (exchange.path === "/mcp") return sendRpcFault(exchange.response, { status: 503, message });
  return sendWebResponse(
    exchange.response,
    plainProblem(503, "unavailable", message, { "retry-after": "1" }),
  );
}

async function refuse(exchange: Exchange, { message, hint }: Refusal): Promise<void> {
  if (exchange.path === "/mcp") {
    return sendRpcFault(exchange.response, { status: 403, message: `${message} ${hint}` });
  }
  return sendWebResponse(exchange.response, plainProblem(403, "forbidden_host", message, {}, { hint }));
}

/** What a web `Request` can be made of; it refuses TRACE and what it has never heard of. */
const REST_METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

async function answerRest(exchange: Exchange, rest: Hono<RestEnv>, admission: Admission): Promise<void> {
  const method = exchange.request.method ?? "GET";
  if (!REST_METHODS.has(method)) {
    const refusal = plainProblem(501, "method_not_implemented", "This method is not known here.");
    return sendWebResponse(exchange.response, refusal);
  }
  // Nothing else is looked at, and what a proxy adds may not be valid for `Headers`.
  const accept = exchange.header("accept");
  const headers = accept === undefined ? {} : { accept };
  const request = new Request(exchange.url, { method, headers });
  const answer = await rest.fetch(request, { exchange, admission });
  return sendWebResponse(exchange.response, answer, { "x-request-id": exchange.id, "x-req-id": exchange.id });
}

/** The last net: a fault of ours, which must neither end the process nor leave the client waiting. */
function fail({ id, path, response }: Exchange, error: unknown, log: Log): void {
  log.error({ err: error, requestId: id, path }, "request failed unexpectedly");
  if (response.headersSent) response.destroy();
  else sendJson(response, 500, JSON.stringify({ error: "INTERNAL_ERROR", requestId: id }));
}
