/**
 * `revoke_claims`: an operator ends claims. Work goes back to the queue, and whoever held it
 * hears `claim_lost` at the next call. REST only.
 */
import { z } from "zod";
import { writes } from "../annotations.ts";
import { answer, id, role } from "../answers.ts";
import { bulkAnswerShape, bulkShape, namesOneSet } from "../bulk.ts";
import { crossField } from "../cross-field.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { bounded, facts, oneLine } from "../rendering.ts";

export const revokeShape = {
  ...bulkShape,
  agent: fields.agentName.optional().describe("Claims of this agent."),
  ancestorId: fields.itemRef.optional().describe("Claims within this subtree."),
  lapsed: fields.flag.optional().describe("true: only lapsed ones; false: only live ones."),
};

const input = z
  .strictObject(revokeShape)
  .superRefine(...crossField((call, add) => namesOneSet(call, ["agent", "ancestorId", "lapsed"], add)));
/** A parsed call. */
export type RevokeClaimsInput = z.output<typeof input>;
export type RevokeClaimsRequest = z.input<typeof input>;

const revoked = answer({ itemId: id, title: z.string(), role, fence: z.int(), requeued: z.boolean() });
export type RevokedClaim = z.output<typeof revoked>;

const output = answer({ revoked: z.array(revoked), ...bulkAnswerShape });
export type RevokeClaimsOutput = z.output<typeof output>;

function render(result: RevokeClaimsOutput): string {
  return bounded([
    result.dryRun
      ? `${result.matched} claims would be revoked`
      : `revoked ${result.revoked.length} of ${result.matched}, failed ${result.failed}`,
    ...result.revoked.map(
      (one) => `${one.itemId} ${facts({ role: one.role, requeued: one.requeued })} ${oneLine(one.title, 80)}`,
    ),
  ]);
}

export const revokeClaims = defineOperation({
  name: "revoke_claims",
  description: "End claims whose holders should not have them any more; work goes back to the queue.",
  input,
  output,
  annotations: writes("Revoke claims", { destructive: true }),
  capability: "operate",
  toolsets: [],
  mcp: false,
  render,
});
