/** `delete_project_config`: a project goes back to what the server's own file says. REST only. */
import { z } from "zod";
import { writes } from "../annotations.ts";
import { answer, id } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";

const input = z.strictObject({
  rootId: fields.itemRef.describe("A root: an item without parent."),
  expectedFingerprint: z.string().optional().describe("Refuse if another text is there by now."),
  actor: fields.actor.optional(),
  requestId: fields.requestId.optional(),
});
/** A parsed call. */
export type DeleteProjectConfigInput = z.output<typeof input>;

const output = answer({
  rootId: id,
  /** Of the text that is gone. */
  fingerprint: z.string(),
  replayed: z.boolean().optional(),
});
export type DeleteProjectConfigOutput = z.output<typeof output>;

export const deleteProjectConfig = defineOperation({
  name: "delete_project_config",
  description: "Remove the text that a project configures itself with.",
  input,
  output,
  annotations: writes("Delete project config", { destructive: true }),
  capability: "write-config",
  toolsets: [],
  mcp: false,
  render: ({ rootId, fingerprint }: DeleteProjectConfigOutput) => `removed ${fingerprint} from ${rootId}`,
});
