/** The parts of a request that a route asks for, read within their limits and refused in the contract's words. */
import type { z } from "zod";
import { fault, type MusterError } from "../../contract/errors.ts";
import { requestId as requestIdField } from "../../contract/fields.ts";
import { toJsonSchema, type JsonSchema } from "../../contract/json-schema.ts";
import { describe, pathText } from "../../contract/parse.ts";
import { nearestName } from "../../contract/unknown-key.ts";
import type { Exchange } from "../http/exchange.ts";
import { readBody } from "../http/read-body.ts";
import { readQuery } from "./read-query.ts";
import type { BodyRule, Route } from "./route.ts";

/** The client hung up before its request was complete: there is nobody to answer. */
export class CallerGone extends Error {}

const shapes = new WeakMap<z.ZodType, JsonSchema>();

function shapeOf(schema: z.ZodType): JsonSchema {
  const known = shapes.get(schema);
  if (known !== undefined) return known;
  const shape = toJsonSchema(schema, "parsed");
  shapes.set(schema, shape);
  return shape;
}

/**
 * The query, checked where the route has a schema of its own. One that belongs to an operation is
 * checked by that operation, together with the rest of its input.
 */
export function queryOf(
  { query }: Exchange,
  { query: schema, operationQuery }: QueryRule,
): Record<string, unknown> {
  if (schema === undefined) {
    const [first] = query.keys();
    if (first === undefined) return {};
    throw fault(
      "VALIDATION_ERROR",
      `"${first.slice(0, 60)}" is not a parameter of this address; it takes none`,
    );
  }
  const read = readQuery(query, shapeOf(schema));
  return operationQuery ? read : (checked(schema, read) as Record<string, unknown>);
}

interface QueryRule {
  readonly query?: z.ZodType | undefined;
  readonly operationQuery: boolean;
}

/**
 * The body, parsed by the route's schema.
 * @throws MusterError `payload_too_large`, `unsupported_media_type`, `bad_request`, `VALIDATION_ERROR`
 */
export async function bodyOf(exchange: Exchange, { bodyRule, body }: Route): Promise<unknown> {
  if (bodyRule === undefined) {
    exchange.request.resume();
    return undefined;
  }
  requireMediaType(exchange.header("content-type"), bodyRule);
  const read = await readBody(exchange.request, bodyRule.limitBytes);
  if (read.kind === "gone") throw new CallerGone();
  if (read.kind === "too_large")
    throw fault("payload_too_large", `the body is larger than ${bodyRule.limitBytes} bytes`);
  if (bodyRule.kind === "text") return read.text;
  const value = parseJson(read.text);
  return body === undefined ? value : checked(body, withoutActor(value));
}

function requireMediaType(header: string | undefined, { mediaTypes }: BodyRule): void {
  const [type = ""] = (header ?? "").split(";");
  if (mediaTypes.includes(type.trim().toLowerCase())) return;
  const given = header === undefined ? "no Content-Type" : `Content-Type ${header.slice(0, 60)}`;
  throw fault("unsupported_media_type", `${given} is not read here; send ${mediaTypes.join(" or ")}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw fault("bad_request", "the body is not JSON");
  }
}

/** Writes over REST are the credential's; who else the body names is not believed, and not refused either. */
function withoutActor(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const { actor: _actor, ...rest } = value as Record<string, unknown>;
  return rest;
}

/** @throws MusterError with every fault of the value, as `parseInput` words them */
export function checked<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value, { error: describe });
  if (parsed.success) return parsed.data;
  throw refusal(parsed.error.issues, shapeOf(schema));
}

const FAULTS_SHOWN_MAX = 20;

function refusal(issues: readonly z.core.$ZodIssue[], shape: JsonSchema): MusterError {
  const faults = issues.flatMap((issue) => {
    const path = pathText(issue.path);
    if (issue.code !== "unrecognized_keys") return [{ path, message: issue.message }];
    return issue.keys.map((key) => ({ path, message: unknownKey(key, shape) }));
  });
  const shown = faults.slice(0, FAULTS_SHOWN_MAX);
  const text = shown.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
  return fault("VALIDATION_ERROR", text, { details: { faults: shown } });
}

function unknownKey(key: string, { properties = {} }: JsonSchema): string {
  const names = Object.keys(properties);
  const near = nearestName(key, names);
  const meant = near === undefined ? `known here are ${names.join(", ")}` : `did you mean "${near}"?`;
  return `unknown key "${key.slice(0, 60)}": ${meant}`;
}

/** @throws MusterError when the header is there and no UUID: it would protect nothing */
export function idempotencyKeyOf(exchange: Exchange, { idempotent }: Route): string | undefined {
  const header = exchange.header("idempotency-key");
  if (header === undefined || idempotent !== true) return undefined;
  // Some clients quote it, as the draft of the header's standard does.
  const parsed = requestIdField.safeParse(header.trim().replace(/^"(.*)"$/, "$1"));
  if (parsed.success) return parsed.data;
  throw fault("VALIDATION_ERROR", "Idempotency-Key is not a UUID; generate a new one for every new call");
}
