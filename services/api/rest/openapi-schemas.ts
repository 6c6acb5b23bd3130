/** Schemas of the contract as OpenAPI 3.1 has them: JSON Schema 2020-12, the named ones once. */
import { z } from "zod";
import { itemDetailDto, itemDto } from "../../contract/rest/item-dtos.ts";
import { edgeDto, noteDto, transitionDto } from "../../contract/rest/note-dtos.ts";
import { planDto } from "../../contract/rest/config-dtos.ts";

export type Json = { readonly [keyword: string]: unknown };

export interface Components {
  /** What may be sent. */
  input(schema: z.ZodType): Json;
  /** What is answered; named schemas are referred to. */
  output(schema: z.ZodType): Json;
  /** Every named schema that was referred to. */
  schemas(): Json;
}

const NAMED: readonly (readonly [string, z.ZodType])[] = [
  ["Item", itemDto],
  ["ItemDetail", itemDetailDto],
  ["Note", noteDto],
  ["Dependency", edgeDto],
  ["Transition", transitionDto],
  ["PlanDocument", planDto],
];

export function createComponents(): Components {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of NAMED) registry.add(schema, { id });
  const used: Record<string, unknown> = {};
  return {
    input: (schema) =>
      plain(z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "inline" })),
    output: (schema) => {
      const json = z.toJSONSchema(schema, {
        io: "output",
        unrepresentable: "any",
        reused: "inline",
        metadata: registry,
      }) as Json;
      const { $defs = {}, ...rest } = json;
      Object.assign(used, plain($defs));
      const { id } = registry.get(schema) ?? {};
      if (id === undefined) return plain(rest);
      used[id] = plain(rest);
      return { $ref: `#/components/schemas/${id}` };
    },
    schemas: () => Object.fromEntries(Object.entries(used).toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

const INT_MAX = Number.MAX_SAFE_INTEGER;

/** Without what only says something to zod, and with references into the document. */
function plain(value: unknown): Json {
  return reread(value) as Json;
}

function reread(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reread);
  if (typeof value !== "object" || value === null) return value;
  const parts = Object.entries(value).flatMap(([key, part]): [string, unknown][] => {
    if (
      key === "$schema" ||
      (key === "id" && typeof part === "string") ||
      key === "unlisted" ||
      key === "shownElsewhere"
    )
      return [];
    if ((key === "maximum" && part === INT_MAX) || (key === "minimum" && part === -INT_MAX)) return [];
    if (key === "$ref" && typeof part === "string")
      return [[key, part.replace("#/$defs/", "#/components/schemas/")]];
    return [[key, reread(part)]];
  });
  return Object.fromEntries(parts);
}

/** An error, as every route answers it. */
export const PROBLEM: Json = {
  type: "object",
  description: "RFC 9457. `error` is the code of REST, `code` that of all other doors where it differs.",
  required: ["type", "title", "status", "detail", "error", "message"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    error: { type: "string" },
    message: { type: "string" },
    code: { type: "string" },
    kind: { type: "string", enum: ["transient", "permanent", "shedding"] },
    hint: { type: "string", description: "What to do next." },
    retryAfterMs: { type: "integer" },
    details: { type: "object" },
    requestId: { type: "string" },
  },
};
