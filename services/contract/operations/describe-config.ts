/** `describe_config`: what is configured for all, or for one project: schemas, traits, and where triggers lead. REST only. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { answer, id } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { bounded } from "../rendering.ts";
import { schemaNote } from "../schema-answer.ts";

const input = z.strictObject({
  rootId: fields.itemRef.optional().describe("As this project sees it; else what the server says alone."),
});
/** A parsed call. */
export type DescribeConfigInput = z.output<typeof input>;

export type ConfiguredNote = z.output<typeof schemaNote>;

export const configuredSchema = answer({
  type: z.string(),
  lifecycleMode: z.enum(["auto", "manual", "permanent"]),
  hasReviewPhase: z.boolean(),
  notes: z.array(schemaNote),
  defaultTraits: z.array(z.string()),
  source: z.enum(["per-root", "global"]),
});
export type ConfiguredSchema = z.output<typeof configuredSchema>;

export const configuredTrait = answer({
  name: z.string(),
  notes: z.array(schemaNote),
  resources: z.array(answer({ key: z.string(), mode: z.string() })).optional(),
});
export type ConfiguredTrait = z.output<typeof configuredTrait>;

export const configuredGraph = answer({
  roles: z.array(z.string()),
  triggers: z.array(z.string()),
  types: z.array(
    answer({
      type: z.string(),
      lifecycleMode: z.string(),
      hasReviewPhase: z.boolean(),
      /** Role -> trigger -> role. */
      transitions: z.record(z.string(), z.record(z.string(), z.string())),
    }),
  ),
});

const output = answer({
  rootId: id.optional(),
  /** Of the text that it comes from; null where there is none. */
  fingerprint: z.string().nullable(),
  /** Of the server's own text, where the project brought one as well. */
  globalFingerprint: z.string().nullable(),
  resolution: z.enum(["legacy", "layered", "isolated"]),
  schemas: z.array(configuredSchema),
  traits: z.array(configuredTrait),
  statusLabels: z.record(z.string(), z.string().nullable()),
  noteLimits: z.enum(["warn", "reject"]),
  independence: answer({ mode: z.enum(["off", "warn", "reject"]), requireVerified: z.boolean() }),
  statusGraph: configuredGraph,
});
export type DescribeConfigOutput = z.output<typeof output>;

function render({ schemas, traits }: DescribeConfigOutput): string {
  return bounded([
    `${schemas.length} schemas, ${traits.length} traits`,
    ...schemas.map(
      (one) => `${one.type} (${one.lifecycleMode}): ${one.notes.map((each) => each.key).join(", ")}`,
    ),
  ]);
}

export const describeConfig = defineOperation({
  name: "describe_config",
  description: "Describe what is configured: types, notes, traits, labels, and where triggers lead.",
  input,
  output,
  annotations: readsOnly("Describe the configuration"),
  capability: "read",
  toolsets: [],
  mcp: false,
  render,
});
