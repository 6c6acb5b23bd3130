/**
 * Turns the zod schemas of an operation into the JSON Schema that clients see.
 *
 * Flat on purpose: several model providers refuse or misread unions, null types and
 * references, and every byte is paid for in every prompt. So a nullable input shows
 * its plain type and a nullable output none (null is a valid answer), alternatives are merged into one object whose `required` is what
 * all have in common, and patterns stay with the server, which answers with words.
 *
 * Converting costs tens of microseconds per schema, and is done once per process.
 */
import { z } from "zod";
import { SHOWN_ELSEWHERE, UNLISTED } from "./listing-marks.ts";
import type { Operation } from "./operation.ts";

export interface JsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly enum?: readonly unknown[];
  readonly additionalProperties?: boolean;
  readonly [keyword: string]: unknown;
}

/** `parsed` is an input with everything that is accepted, listed or not: what `parse.ts` compares with. */
type Side = "input" | "parsed" | "output";
type Loose = { [keyword: string]: unknown };

const INT_MAX = Number.MAX_SAFE_INTEGER;
/**
 * Keywords that are kept as they are. Lengths are left to the server, which names the
 * limit when one is passed; ranges are kept, since models do pick numbers by them.
 */
const PLAIN = ["type", "description", "default", "minimum", "maximum"];

function isSchema(value: unknown): value is Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function flatten(schema: Loose, side: Side): Loose {
  const alternatives = (schema.anyOf ?? schema.oneOf ?? schema.allOf) as Loose[] | undefined;
  if (alternatives !== undefined) return flattenAlternatives(schema, alternatives, side);
  if (side === "input" && schema[SHOWN_ELSEWHERE] === true)
    return { type: "object", description: schema.description };
  const nullable = Array.isArray(schema.type) && schema.type.includes("null");
  if (nullable) return withoutNull(schema, side);
  const flat: Loose = {};
  for (const keyword of PLAIN) {
    const value = schema[keyword];
    if (value === undefined || value === INT_MAX || value === -INT_MAX) continue;
    flat[keyword] = value;
  }
  // Off, nothing and none need no default to be understood.
  if (flat.default === false || flat.default === 0 || Array.isArray(flat.default)) delete flat.default;
  if (flat.minimum === 1 && flat.maximum === undefined) delete flat.minimum;
  if (schema.const !== undefined) flat.enum = [schema.const];
  if (Array.isArray(schema.enum)) flat.enum = schema.enum;
  if (flat.type === "boolean") delete flat.enum;
  if (isSchema(schema.items)) flat.items = flatten(schema.items, side);
  if (isSchema(schema.properties)) {
    const all = Object.entries(schema.properties) as [string, Loose][];
    const properties = side === "input" ? all.filter(([, one]) => one[UNLISTED] !== true) : all;
    flat.properties = Object.fromEntries(properties.map(([name, one]) => [name, flatten(one, side)]));
    if (Array.isArray(schema.required) && schema.required.length > 0) flat.required = schema.required;
    // Outputs stay open: a validating client would refuse an answer that has gained a field.
    if (side !== "output" && schema.additionalProperties === false) flat.additionalProperties = false;
  }
  return flat;
}

/** `{type: ["string", "null"], …}`, as zod writes a nullable scalar. */
function withoutNull(schema: Loose, side: Side): Loose {
  const type = (schema.type as string[]).find((one) => one !== "null");
  const known = Array.isArray(schema.enum) ? { enum: schema.enum.filter((one) => one !== null) } : {};
  return nullableAs(side, flatten({ ...schema, type, ...known }, side));
}

function flattenAlternatives(schema: Loose, alternatives: readonly Loose[], side: Side): Loose {
  const kept = alternatives.filter((one) => one.type !== "null").map((one) => flatten(one, side));
  const merged = kept.reduce(merge);
  const flat = kept.length < alternatives.length ? nullableAs(side, merged) : merged;
  const own: Loose = {};
  for (const keyword of ["description", "default"]) {
    if (schema[keyword] !== undefined && schema[keyword] !== null) own[keyword] = schema[keyword];
  }
  return { ...flat, ...own };
}

function nullableAs(side: Side, flat: Loose): Loose {
  return side === "output" ? { description: `${String(flat.type)}, or null` } : flat;
}

/** One schema that admits what either admits (and more). */
function merge(left: Loose, right: Loose): Loose {
  if (isSchema(left.properties) && isSchema(right.properties)) return mergeObjects(left, right);
  if (Array.isArray(left.enum) && Array.isArray(right.enum)) {
    return { ...left, enum: [...new Set([...(left.enum as unknown[]), ...(right.enum as unknown[])])] };
  }
  return left.type === right.type && left.type !== undefined ? { type: left.type } : {}; // {} admits anything.
}

function mergeObjects(left: Loose, right: Loose): Loose {
  const properties: Loose = { ...(left.properties as Loose) };
  for (const [name, schema] of Object.entries(right.properties as Loose)) {
    const known = properties[name];
    properties[name] = isSchema(known) ? mergeEqual(known, schema as Loose) : schema;
  }
  const rightRequired = new Set((right.required ?? []) as string[]);
  const required = ((left.required ?? []) as string[]).filter((name) => rightRequired.has(name));
  const closed = left.additionalProperties === false && right.additionalProperties === false;
  return {
    type: "object",
    properties,
    ...(required.length === 0 ? {} : { required }),
    ...(closed ? { additionalProperties: false } : {}),
  };
}

function mergeEqual(left: Loose, right: Loose): Loose {
  if (JSON.stringify(left) === JSON.stringify(right)) return left;
  if (Array.isArray(left.items) || !isSchema(left.items) || !isSchema(right.items)) return merge(left, right);
  return { type: "array", items: merge(left.items, right.items) };
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}

/** The flat JSON Schema (2020-12) of a zod schema, frozen. */
export function toJsonSchema(schema: z.ZodType, side: Side): JsonSchema {
  const raw = z.toJSONSchema(schema, {
    io: side === "output" ? "output" : "input",
    reused: "inline",
    cycles: "throw",
    unrepresentable: "any",
  });
  const flat = flatten(raw, side);
  return deepFreeze({ type: "object", ...flat }) as JsonSchema;
}

interface OperationSchemas {
  /** What clients are shown. */
  readonly input: JsonSchema;
  /** The same, with what is accepted silently. */
  readonly parsed: JsonSchema;
  readonly output: JsonSchema;
}

const converted = new WeakMap<Operation, OperationSchemas>();

/** The schemas of an operation; converted at the first call and the same objects ever after. */
export function schemasOf(operation: Operation): OperationSchemas {
  const known = converted.get(operation);
  if (known !== undefined) return known;
  const schemas = Object.freeze({
    input: toJsonSchema(operation.input, "input"),
    parsed: toJsonSchema(operation.input, "parsed"),
    output: toJsonSchema(operation.output, "output"),
  });
  converted.set(operation, schemas);
  return schemas;
}
