/** The one adapter between the route table and the engine. */
import { fault, type MusterError } from "../../contract/errors.ts";
import { operationByName, type OutputOf } from "../../contract/registry.ts";
import { parseInput } from "../../contract/parse.ts";
import { requireAll } from "../../engine/access.ts";
import type { Caller, Engine } from "../../engine/engine.ts";
import type { Log } from "../../runtime/log.ts";
import type { Exchange } from "../http/exchange.ts";
import { toShownError } from "../mcp/call-tool.ts";
import { type Admission, callerOf, restActor } from "../auth/admission.ts";
import type { Challenges } from "../auth/challenge.ts";
import { challengedHeaders } from "../auth/refuse.ts";
import { withRead } from "./read-back.ts";
import { problem } from "./problem.ts";
import { bodyOf, CallerGone, idempotencyKeyOf, queryOf } from "./read-request.ts";
import type { RestAnswer, RestRequest, Route, Run } from "./route.ts";

export interface RouteServices {
  readonly engine: Engine;
  readonly log: Log;
  readonly challenges: Challenges;
}

/** A request that the gate has let in. */
export interface Admitted {
  readonly exchange: Exchange;
  readonly admission: Admission;
}

/** Answers one request of a row; never rejects, but for a client that is gone. */
export async function serveRoute(
  row: Route,
  params: Readonly<Record<string, string>>,
  { exchange, admission }: Admitted,
  { engine, log, challenges }: RouteServices,
): Promise<Response> {
  const caller = callerOf(exchange, admission);
  let request: RestRequest | undefined;
  try {
    // Before the body is read: whoever may not write need not be listened to.
    requireAll(caller.access, [row.capability], `${row.method} ${row.path}`);
    request = await toRequest(row, params, { exchange, admission }, caller);
    const run = runFor(engine, caller, row);
    const input = await row.toInput(request, run);
    const output = await execute(engine, row.operation, input, caller);
    return respond(await row.toResponse(output, request, run), row, exchange);
  } catch (thrown) {
    if (thrown instanceof CallerGone) return new Response(null, { status: 499 });
    const shown = toShownError(thrown, row.operation, caller, log);
    // Before the operation: the engine has not heard of it.
    if (request === undefined && shown.code === "insufficient_scope")
      engine.noteRefusal(row.operation, caller, shown);
    const error = restError(row, shown, request);
    return problem(error, exchange.id, challengedHeaders(error, exchange, admission, challenges));
  }
}

function restError(row: Route, error: MusterError, request: RestRequest | undefined): MusterError {
  return request === undefined ? error : (row.refused?.(error, request) ?? error);
}

async function toRequest(
  row: Route,
  params: Readonly<Record<string, string>>,
  { exchange, admission }: Admitted,
  caller: Caller,
): Promise<RestRequest> {
  const requestId = idempotencyKeyOf(exchange, row);
  const operationQuery = row.query !== undefined && row.query === operationByName.get(row.operation)?.input;
  const query = queryOf(exchange, { query: row.query, operationQuery });
  if (row.ifMatch === "required" && exchange.header("if-match") === undefined)
    throw fault("precondition_required", "this address changes only what you have read: If-Match is missing");
  const body = await bodyOf(exchange, row);
  return {
    params,
    query,
    body,
    actor: restActor(admission),
    access: caller.access,
    requestId,
    header: (name) => exchange.header(name),
  };
}

function runFor(engine: Engine, caller: Caller, row: Route): Run {
  // What a write changed is read back for its answer; nothing else may be reached with that.
  const reader = row.method === "GET" ? caller : { ...caller, access: withRead(caller.access) };
  return async (name, input) => (await execute(engine, name, input, reader)) as OutputOf<typeof name>;
}

async function execute(
  engine: Engine,
  name: string,
  input: unknown,
  caller: Caller,
): Promise<Record<string, unknown>> {
  const operation = operationByName.get(name);
  if (operation === undefined) throw new Error(`There is no operation ${name}.`);
  return await engine.execute(name, parseInput(operation, input), caller);
}

function respond({ status, body, headers = {} }: RestAnswer, row: Route, exchange: Exchange): Response {
  const { etag } = headers;
  const base = { "cache-control": row.conditional === true ? "private, no-cache" : "no-store", ...headers };
  if (row.conditional === true && etag !== undefined && isKnown(exchange.header("if-none-match"), etag))
    return new Response(null, { status: 304, headers: base });
  if (body === undefined) return new Response(null, { status, headers: base });
  return Response.json(body, { status, headers: base });
}

/** Weakly compared, as the standard asks: a proxy that compresses marks a tag as weak. */
function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  return header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}
