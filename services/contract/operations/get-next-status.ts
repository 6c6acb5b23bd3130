/** `get_next_status`: what a `start` would do to an item now, judged by the decision that `advance_item` uses. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { answer, blocker, expectedNote, id, role } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { bounded, facts } from "../rendering.ts";

const input = z.strictObject({
  itemId: fields.itemRef,
  agent: fields.agentName.optional(),
  workerId: fields.workerId.optional(),
});
/** A parsed call. */
export type GetNextStatusInput = z.output<typeof input>;
export type GetNextStatusRequest = z.input<typeof input>;

const output = answer({
  itemId: id,
  recommendation: z.enum(["Ready", "Blocked", "Terminal"]),
  currentRole: role,
  nextRole: role.optional(),
  trigger: z.string().optional(),
  /** `1/3`, or `1/4` where there is a review phase. */
  progressionPosition: z.string().optional(),
  reason: z.string().optional(),
  suggestion: z.string().optional(),
  blockers: z.array(blocker).optional(),
  contendedResources: z.array(z.string()).optional(),
  retryAfterMs: z.int().optional(),
  missingNotes: z.array(expectedNote).optional(),
  /** Every trigger the item takes from where it is. */
  triggers: z.array(z.string()).optional(),
});
export type GetNextStatusOutput = z.output<typeof output>;

function render(result: GetNextStatusOutput): string {
  const move = result.nextRole === undefined ? "" : ` -> ${result.nextRole}`;
  return bounded([
    `${result.itemId} ${result.recommendation}: ${result.currentRole}${move} ${facts({ trigger: result.trigger, position: result.progressionPosition })}`.trim(),
    result.reason === undefined ? "" : `Reason: ${result.reason}`,
    ...(result.blockers ?? []).map(
      (edge) => `waits for ${edge.fromItemId} (${edge.currentRole}, needs ${edge.requiredRole})`,
    ),
    ...(result.missingNotes ?? []).map((note) => `missing note ${note.key} (${note.role})`),
    result.suggestion === undefined ? "" : `Next: ${result.suggestion}`,
    result.triggers === undefined ? "" : `Triggers it takes: ${result.triggers.join(", ")}`,
  ]);
}

export const getNextStatus = defineOperation({
  name: "get_next_status",
  description:
    "Tell what trigger start would do to an item now, and what stands in the way. Changes nothing.",
  input,
  output,
  annotations: readsOnly("Preview the next role"),
  capability: "read",
  toolsets: ["orchestrator"],
  mcp: true,
  render,
});
