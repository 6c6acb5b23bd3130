/**
 * One row of the route table: an address, the operation behind it, and how a request
 * becomes the operation's input and its answer becomes a response.
 *
 *   path, query, body -> `query` and `body` schemas -> toInput -> parseInput (contract)
 *     -> engine.execute -> toResponse
 *
 * The table is also what `docs/api/openapi.json` is made of, so a row says everything that
 * a client may want to know: what it takes, what it answers, how it may be refused.
 */
import type { z } from "zod";
import type { ErrorCode, MusterError } from "../../contract/errors.ts";
import type { Capability } from "../../contract/operation.ts";
import {
  operationByName,
  type OperationName,
  type OutputOf,
  type RequestOf,
} from "../../contract/registry.ts";
import type { Access } from "../../engine/access.ts";
import type { RestActor } from "../auth/admission.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** What bodies are written in, and how many bytes one may have. */
export interface BodyRule {
  readonly kind: "json" | "text";
  readonly mediaTypes: readonly string[];
  readonly limitBytes: number;
}

export interface RestRequest<Q = Readonly<Record<string, unknown>>, B = unknown> {
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  readonly actor: RestActor;
  readonly access: Access;
  /** `Idempotency-Key`. */
  readonly requestId: string | undefined;
  header(name: string): string | undefined;
}

export interface RestAnswer {
  readonly status: number;
  /** Sent as JSON; nothing is sent for undefined. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Runs an operation for the same caller; what a write has just changed may be read back with it. */
export type Run = <N extends OperationName>(name: N, input: RequestOf<N>) => Promise<OutputOf<N>>;

export interface Success {
  readonly status: 200 | 201 | 204;
  readonly description: string;
  /** Absent where there is no body. */
  readonly schema?: z.ZodType;
}

interface RouteHead {
  readonly method: Method;
  /** Below `/api/v1`, with `{name}` for a segment and `{name+}` for the rest of the path. */
  readonly path: string;
  /** Heads its part of the documentation. */
  readonly area: string;
  readonly summary: string;
  readonly success: readonly Success[];
  /** Codes of the error table, besides those that every route may answer. */
  readonly refusals: readonly ErrorCode[];
  readonly bodyRule?: BodyRule;
  /** What `If-Match` is to it; absent: it is not read. */
  readonly ifMatch?: "required" | "optional";
  /** `If-None-Match` is answered with 304. */
  readonly conditional?: boolean;
  /** Takes an `Idempotency-Key`. */
  readonly idempotent?: boolean;
}

export interface RouteSpec<
  N extends OperationName,
  Q extends z.ZodType,
  B extends z.ZodType,
> extends RouteHead {
  readonly operation: N;
  readonly query?: Q;
  readonly body?: B;
  toInput(request: RestRequest<z.output<Q>, z.output<B>>, run: Run): RequestOf<N> | Promise<RequestOf<N>>;
  /** Absent: 200 with the operation's own answer. */
  toResponse?(
    output: OutputOf<N>,
    request: RestRequest<z.output<Q>, z.output<B>>,
    run: Run,
  ): RestAnswer | Promise<RestAnswer>;
  /** The error that REST has for one of the operation's. */
  refused?(error: MusterError, request: RestRequest<z.output<Q>, z.output<B>>): MusterError;
}

/** A row with its types forgotten: what the table holds. */
export interface Route extends RouteHead {
  readonly operation: OperationName;
  readonly capability: Capability;
  readonly query?: z.ZodType | undefined;
  readonly body?: z.ZodType | undefined;
  toInput(request: RestRequest, run: Run): unknown;
  toResponse(
    output: Record<string, unknown>,
    request: RestRequest,
    run: Run,
  ): RestAnswer | Promise<RestAnswer>;
  refused?(error: MusterError, request: RestRequest): MusterError;
}

/** Declares a row; the operation's types are checked here and nowhere later. */
export function route<
  N extends OperationName,
  Q extends z.ZodType = z.ZodType<Record<string, unknown>>,
  B extends z.ZodType = z.ZodType,
>(spec: RouteSpec<N, Q, B>): Route {
  const operation = operationByName.get(spec.operation);
  if (operation === undefined) throw new Error(`There is no operation ${spec.operation}.`);
  const answer = (output: Record<string, unknown>): RestAnswer => ({ status: 200, body: output });
  // Where it depends on the input, what only reads needs no more than that.
  const reads = spec.method === "GET" && operation.capabilitiesFor !== undefined;
  const capability = reads ? "read" : operation.capability;
  const erased: unknown = { toResponse: answer, ...spec, capability };
  return erased as Route;
}

/** A row that hands the query to its operation as it is, and answers what the operation answers. */
export function readRoute(
  head: Omit<RouteHead, "method" | "success" | "refusals"> & { readonly operation: OperationName } & Partial<
      Pick<RouteHead, "refusals">
    >,
): Route {
  const operation = operationByName.get(head.operation);
  if (operation === undefined) throw new Error(`There is no operation ${head.operation}.`);
  const row: Route = {
    method: "GET",
    refusals: [],
    ...head,
    capability: operation.capability,
    success: [{ status: 200, description: operation.annotations.title, schema: operation.output }],
    query: operation.input,
    toInput: ({ params, query }) => ({ ...query, ...params }),
    toResponse: (output) => ({ status: 200, body: output }),
  };
  return row;
}

export const JSON_BODY: BodyRule = {
  kind: "json",
  mediaTypes: ["application/json"],
  limitBytes: 1_048_576,
};
