/**
 * Everything that is not MCP: the page, the probes and the reads under `/api/v1`.
 * One table of routes; a path that exists answers other methods with 405 and what it
 * allows, and a path that does not answers 404.
 */
import { FULL_ACCESS } from "../../engine/access.ts";
import { Hono, type Context } from "hono";
import { schemasOf } from "../../contract/json-schema.ts";
import type { Operation } from "../../contract/operation.ts";
import { parseInput } from "../../contract/parse.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Health } from "../../runtime/health.ts";
import type { Log } from "../../runtime/log.ts";
import type { Exchange } from "../http/exchange.ts";
import { toShownError } from "../mcp/call-tool.ts";
import { plainProblem, problem } from "./problem.ts";
import { readQuery } from "./read-query.ts";
import { PAGE_POLICY, readStatus, renderStatus, type About } from "./status-page.ts";

export interface RestOptions {
  readonly engine: Engine;
  readonly log: Log;
  readonly operations: readonly Operation[];
  readonly health: Health;
  readonly about: About;
  readonly version: string;
  /** Known once the server listens. */
  readonly baseUrl: () => string;
}

/** What Hono carries along with each request. */
export interface RestEnv {
  readonly Bindings: { readonly exchange: Exchange };
}

type Handler = (context: Context<RestEnv>) => Response | Promise<Response>;

/** Reads of the contract that have a REST address, and no tool. */
const READS: Readonly<Record<string, string>> = {
  list_claims: "/api/v1/claims",
  list_agents: "/api/v1/agents",
};

/** Builds the routes. */
export function createRestApp(options: RestOptions): Hono<RestEnv> {
  const app = new Hono<RestEnv>();
  const routes: Record<string, Handler> = {
    "/": page(options),
    "/livez": liveness(options),
    "/readyz": readiness(options),
  };
  for (const operation of options.operations) {
    const path = READS[operation.name];
    if (path !== undefined) routes[path] = read(operation, options);
  }
  for (const [path, handler] of Object.entries(routes)) {
    app.get(path, handler);
    app.all(path, () =>
      plainProblem(405, "method_not_allowed", `${path} can only be read.`, { allow: "GET, HEAD" }),
    );
  }
  app.notFound(() =>
    plainProblem(404, "route_not_found", "There is nothing at this address. See GET / for those there are."),
  );
  app.onError((thrown, { env: { exchange } }) => {
    const caller = { requestId: exchange.id };
    return problem(toShownError(thrown, exchange.path, caller, options.log), exchange.id);
  });
  return app;
}

function page({ about, version, baseUrl }: RestOptions): Handler {
  return async (context) => {
    const status = await readStatus(about, version, baseUrl());
    const wantsJson = /\bapplication\/json\b/i.test(context.req.header("accept") ?? "");
    if (wantsJson) return Response.json(status, { headers: { "cache-control": "no-store", vary: "accept" } });
    return new Response(renderStatus(status), {
      headers: {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": PAGE_POLICY,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
        vary: "accept",
      },
    });
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

function read(operation: Operation, { engine, log }: RestOptions): Handler {
  const { input: schema } = schemasOf(operation);
  return async ({ env: { exchange } }) => {
    const caller = {
      access: FULL_ACCESS,
      credential: null,
      session: null,
      client: null,
      requestId: exchange.id,
      signal: exchange.signal,
    };
    try {
      const input = parseInput(operation, readQuery(exchange.query, schema));
      const output = await engine.execute(operation.name, input, caller);
      return Response.json(output, { headers: { "cache-control": "no-store" } });
    } catch (thrown) {
      return problem(toShownError(thrown, operation.name, caller, log), exchange.id);
    }
  };
}
