/** What `query_items` with operation schema answers: the one place that has every word of a schema. */
import { z } from "zod";
import { answer } from "./answers.ts";
import { countPresent, type AddFault } from "./cross-field.ts";
import { bounded, facts, oneLine } from "./rendering.ts";

/** Parts of the configuration that clients may count on. */
export const SCHEMA_FEATURES = [
  "seats",
  "dispatch",
  "independence",
  "schema_resolution",
  "shared_resources",
  "retry",
] as const;

export interface AskSchema {
  readonly operation: "schema";
  readonly itemId: string | undefined;
  readonly type: string | undefined;
  /** The project that the type belongs to. */
  readonly rootId: string | undefined;
}

export function schemaRules(call: Readonly<Record<string, unknown>>, add: AddFault): void {
  if (countPresent(call, ["itemId", "type"]) !== 1)
    add([], "schema needs exactly one of itemId and type: whose schema, or which");
  if (call.rootId !== undefined && call.itemId !== undefined)
    add(["rootId"], "goes with type only: an item's root is known");
}

const dispatch = answer({
  agent: z.string().optional(),
  model: z.string().optional(),
  effort: z.string().optional(),
});

/** A note as a schema asks for it. */
export const schemaNote = answer({
  key: z.string(),
  role: z.string(),
  required: z.boolean(),
  description: z.string(),
  guidance: z.string().optional(),
  skill: z.string().optional(),
  maxLength: z.int().optional(),
  seat: z.string().optional(),
  independentOf: z.array(z.string()).optional(),
});

const seat = answer({
  name: z.string(),
  phase: z.string(),
  enters: z.boolean().optional(),
  after: z.array(z.string()).optional(),
  readsExclude: z.array(z.string()).optional(),
});

const resource = answer({
  key: z.string(),
  mode: z.string(),
  ttlSeconds: z.int(),
  capacity: z.int().optional(),
});

export const schemaAnswer = answer({
  /** The name of the schema that matched: a type, a tag or `default`. */
  type: z.string(),
  configFingerprint: z.string().nullable(),
  configSource: z.enum(["per-root", "global"]),
  lifecycle: z.enum(["auto", "manual", "permanent"]),
  hasReviewPhase: z.boolean(),
  notes: z.array(schemaNote),
  traits: z.array(z.string()),
  /** Named and defined nowhere. */
  unknownTraits: z.array(z.string()).optional(),
  resources: z.array(resource).optional(),
  /** By phase. */
  dispatch: z.record(z.string(), dispatch).optional(),
  seats: z.array(seat).optional(),
  dispatchBySeat: z.record(z.string(), dispatch).optional(),
  statusLabels: z.record(z.string(), z.string().nullable()),
  noteLimits: z.enum(["warn", "reject"]),
  independence: answer({ mode: z.enum(["off", "warn", "reject"]), requireVerified: z.boolean() }),
  retry: answer({
    onExpiry: z.enum(["requeue", "hold"]),
    maxAttempts: z.int(),
    maxReviewRounds: z.int(),
    backoff: answer({ firstSeconds: z.number(), factor: z.number(), maxSeconds: z.number() }),
  }),
  /** Parts of the configuration that clients may count on. */
  features: z.array(z.string()),
  truncated: z.boolean().optional(),
});
export type SchemaAnswer = z.output<typeof schemaAnswer>;

export function renderSchema(schema: SchemaAnswer): string {
  return bounded([
    `schema ${schema.type} (${schema.configSource}): ${facts({
      lifecycle: schema.lifecycle,
      traits: schema.traits,
      unknownTraits: schema.unknownTraits,
      resources: schema.resources?.map((one) => one.key),
      seats: schema.seats?.map((one) => one.name),
    })}`,
    ...schema.notes.map(
      (one) =>
        `${one.role}: ${one.key}${one.required ? " (required)" : ""} ${oneLine(one.guidance ?? one.description, 300)} ${facts({ skill: one.skill, maxLength: one.maxLength, seat: one.seat })}`,
    ),
    schema.truncated ? "descriptions and guidance are cut: the whole schema is too long for one answer" : "",
  ]);
}
