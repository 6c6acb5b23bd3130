/** Query strings as input for the contract: text becomes what the operation's schema asks for. */
import type { JsonSchema } from "../../contract/json-schema.ts";

/**
 * Converts a query by the field types of an input schema. Only clear cases are
 * converted; anything else stays text, and the contract then says what is wrong with
 * it in the same words as for MCP. A repeated parameter becomes an array.
 */
export function readQuery(query: URLSearchParams, { properties = {} }: JsonSchema): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  for (const name of new Set(query.keys())) {
    const [first = "", ...more] = query.getAll(name);
    const type = Object.hasOwn(properties, name) ? properties[name]?.type : undefined;
    const value = more.length === 0 ? convert(first, type) : [first, ...more];
    // Defined, not assigned: a parameter called `__proto__` must end as an unknown key, not as a prototype.
    Object.defineProperty(input, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return input;
}

function convert(text: string, type: string | undefined): unknown {
  if ((type === "integer" || type === "number") && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}
