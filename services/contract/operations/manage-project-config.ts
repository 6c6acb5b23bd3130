/** `manage_project_config`: the text that a project configures itself with. */
import { z } from "zod";
import { writes } from "../annotations.ts";
import { answer, at, id } from "../answers.ts";
import { crossField, type AddFault } from "../cross-field.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { unlisted } from "../listing-marks.ts";
import { bounded, excerpt, facts } from "../rendering.ts";

const shape = z
  .strictObject({
    operation: z.enum(["push", "get"]),
    rootId: fields.itemRef.describe("A root: an item without parent."),
    configYaml: z.string().optional().describe("push: the whole text."),
    force: fields.flag.default(false).describe("push: even an older text, or one that names another root."),
    expectedFingerprint: unlisted(z.string().optional()).describe(
      "push: refuse if another text is there by now.",
    ),
    fingerprint: z.string().optional().describe("get: how does mine relate to it?"),
    offset: fields.offset.describe("get: the text from here on, in characters."),
    actor: fields.actor.optional(),
    workerId: fields.workerId.optional(),
    requestId: fields.requestId.optional(),
  })
  .superRefine(...crossField(rules));

function rules(call: Readonly<Record<string, unknown>>, add: AddFault): void {
  if (call.operation === "push") {
    if (call.configYaml === undefined) add(["configYaml"], "is needed: the whole text of the configuration");
    if (call.fingerprint !== undefined) add(["fingerprint"], "belongs to get");
    if (call.offset !== undefined && call.offset !== 0) add(["offset"], "belongs to get");
  }
  if (call.operation === "get") {
    if (call.configYaml !== undefined) add(["configYaml"], "belongs to push");
    if (call.force === true) add(["force"], "belongs to push");
    if (call.expectedFingerprint !== undefined) add(["expectedFingerprint"], "belongs to push");
  }
}

type Shape = z.output<typeof shape>;
type Common = Pick<Shape, "rootId" | "actor" | "workerId" | "requestId">;
export type PushConfig = Common & {
  readonly operation: "push";
  readonly configYaml: string;
  readonly force: boolean;
  readonly expectedFingerprint?: string | undefined;
};
export type GetConfig = Common & Pick<Shape, "fingerprint" | "offset"> & { readonly operation: "get" };
/** A parsed call. */
export type ManageProjectConfigInput = PushConfig | GetConfig;
export type ManageProjectConfigRequest = z.input<typeof shape>;

const input = shape.transform((call): ManageProjectConfigInput => {
  const { rootId, actor, workerId, requestId } = call;
  const common = { rootId, actor, workerId, requestId };
  if (call.operation === "get")
    return { ...common, operation: "get", fingerprint: call.fingerprint, offset: call.offset };
  // Never empty: see the rules.
  const { configYaml = "", force, expectedFingerprint } = call;
  return {
    ...common,
    operation: "push",
    configYaml,
    force,
    ...(expectedFingerprint === undefined ? {} : { expectedFingerprint }),
  };
});

const pushed = answer({
  rootId: id,
  fingerprint: z.string(),
  updatedAt: at,
  /** False: it was this text already. */
  changed: z.boolean(),
  warning: z.string().optional(),
  /** Sections that are not read from the text of a project. */
  ignoredSections: z.array(z.string()).optional(),
  /** What is accepted and probably not meant. */
  schemaWarnings: z.array(z.string()).optional(),
  replayed: z.boolean().optional(),
});
const got = answer({
  rootId: id,
  configYaml: z.string(),
  fingerprint: z.string(),
  updatedAt: at,
  relation: z.enum(["current", "superseded", "unknown"]).optional(),
  /** The text goes on there. */
  nextOffset: z.int().optional(),
});
const output = z.union([got, pushed]);
export type PushConfigOutput = z.output<typeof pushed>;
export type GetConfigOutput = z.output<typeof got>;
export type ManageProjectConfigOutput = z.output<typeof output>;

function render(result: ManageProjectConfigOutput): string {
  const { rootId, fingerprint, updatedAt } = result;
  if ("configYaml" in result) {
    const { relation, nextOffset } = result;
    return bounded([
      `configuration of ${rootId}: ${facts({ fingerprint, updatedAt, relation, nextOffset })}`,
      excerpt(result.configYaml),
    ]);
  }
  return bounded([
    `${result.changed ? "stored for" : "unchanged for"} ${rootId}: ${facts({ fingerprint })}`,
    result.warning ?? "",
    result.ignoredSections === undefined ? "" : `ignored sections: ${result.ignoredSections.join(", ")}`,
    ...(result.schemaWarnings ?? []).map((one) => `warning: ${one}`),
  ]);
}

export const manageProjectConfig = defineOperation({
  name: "manage_project_config",
  description:
    "The YAML that a project (root item) configures its items with: types, notes, gates, traits, labels. " +
    "push replaces it for all agents at once; an older text is refused unless forced. get reads it back.",
  input,
  output,
  annotations: writes("Manage project config", { destructive: true }),
  capability: "write-config",
  capabilitiesFor: ({ operation }) => [operation === "get" ? "read" : "write-config"],
  toolsets: ["orchestrator"],
  mcp: true,
  render,
});
