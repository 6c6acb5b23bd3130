/** What `tools/list` answers. */
import { schemasOf, type JsonSchema } from "./json-schema.ts";
import type { Annotations, Operation, Toolset } from "./operation.ts";
import { operationsOf } from "./registry.ts";

export interface ToolEntry {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly annotations: Omit<Annotations, "title">;
}

/**
 * An operation as MCP lists it. Output schemas are left out: they are about as large
 * as the inputs, models have no use for them before they have an answer (whose text
 * says what to do next), and clients that compile them would refuse answers from a
 * newer server. The reference docs and OpenAPI carry them. The title is sent once,
 * beside the name.
 */
export function toolEntry(operation: Operation): ToolEntry {
  const { title, ...hints } = operation.annotations;
  return Object.freeze({
    name: operation.name,
    title,
    description: operation.description,
    inputSchema: schemasOf(operation).input,
    annotations: Object.freeze(hints),
  });
}

/** The whole list for a toolset, in registry order. Make it once and keep it. */
export function toolListing(toolset: Toolset): readonly ToolEntry[] {
  return Object.freeze(operationsOf(toolset).map(toolEntry));
}
