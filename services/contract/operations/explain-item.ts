/** `explain_item`: every reason why an item is not offered, each with what would clear it. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { answer, at, id, role } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { bounded, facts } from "../rendering.ts";

const input = z.strictObject({
  itemId: fields.itemRef,
  agent: fields.agentName.optional(),
  workerId: fields.workerId.optional(),
  capabilities: fields.nameCsv.optional(),
});
/** A parsed call. Without an agent the view is that of a stranger without capabilities. */
export type ExplainItemInput = z.output<typeof input>;
export type ExplainItemRequest = z.input<typeof input>;

const reason = answer({
  code: z.string(),
  message: z.string(),
  clearedBy: z.string(),
  itemId: id.optional(),
  until: at.optional(),
});
export type ExplainReason = z.output<typeof reason>;

const output = answer({
  itemId: id,
  title: z.string().optional(),
  offered: z.boolean(),
  role,
  reasons: z.array(reason),
});
export type ExplainItemOutput = z.output<typeof output>;

function render(result: ExplainItemOutput): string {
  if (result.offered)
    return `${result.itemId} is offered in role ${result.role}. Next: claim it with claim_item.`;
  return bounded([
    `${result.itemId} (${result.role}) is NOT offered:`,
    ...result.reasons.map((one) => {
      const where = facts({ itemId: one.itemId, until: one.until });
      return `- ${one.code}: ${one.message}${where === "" ? "" : ` (${where})`} Cleared by: ${one.clearedBy}`;
    }),
  ]);
}

export const explainItem = defineOperation({
  name: "explain_item",
  description: "Say whether claims are offered an item, and if not, every reason and what clears it.",
  input,
  output,
  annotations: readsOnly("Explain readiness"),
  capability: "read",
  toolsets: ["orchestrator"],
  mcp: true,
  render,
});
