/**
 * The liberties callers are given. They are taken only when an input was refused as it
 * is, and only where the schema leaves one reading:
 *
 * - client metadata at the top level (see CLIENT_METADATA_KEYS below) is dropped;
 * - "true" and "false" become booleans, at boolean fields only ("900" stays a string:
 *   a model that writes a number as text tends to have meant another field);
 * - values of closed sets are matched whatever their case (`START`, `is-blocked-by`);
 * - the two spellings of one field in the original's own examples are one field.
 */
import type { JsonSchema } from "./json-schema.ts";

/** What MCP clients and tracing libraries are known to add to the arguments of a tool. */
const CLIENT_METADATA_KEYS: ReadonlySet<string> = new Set([
  "_meta",
  "progressToken",
  "traceparent",
  "tracestate",
  "baggage",
]);

/** Operation -> accepted spelling -> field. */
const OTHER_SPELLINGS: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map([
  ["get_next_item", new Map([["includeItemDetails", "includeDetails"]])],
  ["get_blocked_items", new Map([["includeDetails", "includeItemDetails"]])],
]);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The input with all liberties taken; what cannot be read stays as it was. */
export function adaptInput(operation: string, raw: unknown, schema: JsonSchema): unknown {
  if (!isObject(raw)) return raw;
  const spellings = OTHER_SPELLINGS.get(operation);
  const known = new Map<string, unknown>();
  for (const [name, value] of Object.entries(raw)) {
    if (CLIENT_METADATA_KEYS.has(name)) continue;
    const field = spellings?.get(name) ?? name;
    if (field !== name && raw[field] !== undefined) continue; // Said twice: the proper name counts.
    known.set(field, value);
  }
  return adapt(Object.fromEntries(known), schema);
}

function adapt(value: unknown, schema: JsonSchema): unknown {
  if (typeof value === "string") return adaptText(value, schema);
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((one) => adapt(one, items));
  }
  if (!isObject(value) || schema.properties === undefined) return value;
  const { properties } = schema;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      // hasOwn: a key like "constructor" must not find what every object inherits.
      const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
      return [name, field === undefined ? one : adapt(one, field)];
    }),
  );
}

function adaptText(text: string, schema: JsonSchema): unknown {
  if (schema.type === "boolean") return text === "true" ? true : text === "false" ? false : text;
  if (schema.enum === undefined) return text;
  const plain = plainWord(text);
  return schema.enum.find((one) => typeof one === "string" && plainWord(one) === plain) ?? text;
}

function plainWord(text: string): string {
  return text.trim().toLowerCase().replaceAll("_", "-");
}
