/**
 * Everything that is not MCP: the page, the probes and the reads under `/api/v1`.
 * One table of routes; a path that exists answers other methods with 405 and what it
 * allows, and a path that does not answers 404.
 */
import { type Admission, callerOf } from "../auth/admission.ts";
import { challengedHeaders } from "../auth/refuse.ts";
import type { Challenges } from "../auth/challenge.ts";
import { Hono, type Context } from "hono";
import type { Engine } from "../../engine/engine.ts";
import type { Health } from "../../runtime/health.ts";
import type { Log } from "../../runtime/log.ts";
import type { Exchange } from "../http/exchange.ts";
import { toShownError } from "../mcp/call-tool.ts";
import { plainProblem, problem } from "./problem.ts";
import type { Route } from "./route.ts";
import { requireAll } from "../../engine/access.ts";
import { openApiDocument } from "./openapi.ts";
import { renderReference } from "./reference-page.ts";
import { createRouter } from "./router.ts";
import { API_BASE, ROUTES } from "./routes.ts";
import { serveRoute } from "./serve-route.ts";
import { STATIC_ROUTES, type StaticRoute } from "./static-routes.ts";
import { PAGE_POLICY, readStatus, renderStatus, type About } from "./status-page.ts";

export interface RestOptions {
  readonly engine: Engine;
  readonly log: Log;
  readonly health: Health;
  readonly about: About;
  readonly version: string;
  readonly challenges: Challenges;
  /** Known once the server listens. */
  readonly baseUrl: () => string;
}

/** What Hono carries along with each request. */
export interface RestEnv {
  readonly Bindings: { readonly exchange: Exchange; readonly admission: Admission };
}

type Handler = (context: Context<RestEnv>) => Response | Promise<Response>;

/** Builds the routes. */
export function createRestApp(options: RestOptions): Hono<RestEnv> {
  const app = new Hono<RestEnv>();
  const pages: Record<string, Handler> = {
    "/": page(options),
    "/livez": liveness(options),
    "/readyz": readiness(options),
  };
  for (const row of STATIC_ROUTES) pages[row.path] = fixed(options, row);
  Object.assign(pages, documentation());
  for (const [path, handler] of Object.entries(pages)) {
    app.get(path, handler);
    app.all(path, () => notAllowed(path, ["GET"]));
  }
  app.all(`${API_BASE}/*`, table(options, ROUTES));
  app.notFound(() => nothingHere());
  app.onError((thrown, { env: { exchange } }) => {
    const caller = { requestId: exchange.id };
    return problem(toShownError(thrown, exchange.path, caller, options.log), exchange.id);
  });
  return app;
}

/** The OpenAPI document, and a page that says the same to people; both made once. */
function documentation(): Record<string, Handler> {
  const document = openApiDocument(ROUTES);
  const text = JSON.stringify(document);
  const html = renderReference(document);
  return {
    [`${API_BASE}/openapi.json`]: () =>
      new Response(text, { headers: { "content-type": "application/json", "cache-control": "no-cache" } }),
    [`${API_BASE}/docs`]: () => new Response(html, { headers: PAGE_HEADERS }),
  };
}

function fixed({ version, health, log, challenges }: RestOptions, row: StaticRoute): Handler {
  return ({ env: { exchange, admission } }) => {
    const caller = callerOf(exchange, admission);
    try {
      if (!row.isPublic) requireAll(caller.access, ["read"], `GET ${row.path}`);
      const body = row.body({ version, live: health.live().ok });
      return Response.json(body, { headers: { "cache-control": "no-store" } });
    } catch (thrown) {
      const error = toShownError(thrown, row.path, caller, log);
      return problem(error, exchange.id, challengedHeaders(error, exchange, admission, challenges));
    }
  };
}

function nothingHere(): Response {
  return plainProblem(
    404,
    "route_not_found",
    "There is nothing at this address. See GET / for those there are.",
  );
}

function notAllowed(path: string, methods: readonly string[]): Response {
  const allowed = methods.includes("GET") ? ["HEAD", ...methods] : methods;
  const allow = allowed.toSorted().join(", ");
  return plainProblem(405, "method_not_allowed", `${path} takes ${allow}.`, { allow });
}

function table({ engine, log, challenges }: RestOptions, routes: readonly Route[]): Handler {
  const find = createRouter(routes);
  return async ({ req, env: { exchange, admission } }) => {
    const path = exchange.path.slice(API_BASE.length);
    const found = find(path);
    if (found === null) return nothingHere();
    const method = req.method === "HEAD" ? "GET" : req.method;
    const row = found.rows.find((one) => one.method === method);
    if (row !== undefined)
      return await serveRoute(row, found.params, { exchange, admission }, { engine, log, challenges });
    return notAllowed(
      exchange.path,
      found.rows.map((one) => one.method),
    );
  };
}

const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": PAGE_POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

function page({ about, version, baseUrl }: RestOptions): Handler {
  return async (context) => {
    const status = await readStatus(about, version, baseUrl());
    const wantsJson = /\bapplication\/json\b/i.test(context.req.header("accept") ?? "");
    if (wantsJson) return Response.json(status, { headers: { "cache-control": "no-store", vary: "accept" } });
    return new Response(renderStatus(status), { headers: { ...PAGE_HEADERS, vary: "accept" } });
  };
}

function liveness({ health }: RestOptions): Handler {
  return () => Response.json({ live: health.live().ok }, { headers: { "cache-control": "no-store" } });
}

function readiness({ health }: RestOptions): Handler {
  return async () => {
    const { ok, degraded, checks } = await health.ready();
    const headers = { "cache-control": "no-store" };
    if (ok) return Response.json({ ready: true, ...(degraded && { degraded }), checks }, { headers });
    const away = Object.entries(checks).flatMap(([name, check]) =>
      check.ok ? [] : [`${name} (${check.reason ?? "unavailable"})`],
    );
    return plainProblem(503, "unavailable", `Not ready: ${away.join(", ")}.`, {}, { ready: false, checks });
  };
}
