/** `list_claims`: who holds what, since when, until when. For operators; REST only. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { answer, at, id, offsetPage, role } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from "../limits.ts";
import { bounded, facts, oneLine } from "../rendering.ts";

const input = z.strictObject({
  agent: fields.agentName.optional().describe("Claims of this agent."),
  ancestorId: fields.itemRef.optional().describe("Claims within this subtree."),
  lapsed: fields.flag.optional().describe("true: only lapsed ones; false: only live ones."),
  limit: fields.listLimit(LIST_LIMIT_MAX, LIST_LIMIT_DEFAULT),
  offset: fields.offset,
});
/** A parsed call. */
export type ListClaimsInput = z.output<typeof input>;
export type ListClaimsRequest = z.input<typeof input>;

const claim = answer({
  itemId: id,
  title: z.string(),
  role,
  agent: z.string(),
  /** Only the beginning: who knows a whole session id can act as its worker. */
  session: z.string().optional(),
  fence: z.int(),
  attempt: z.int().optional(),
  claimedAt: at,
  originalClaimedAt: at.optional(),
  claimExpiresAt: at,
  ttlSeconds: z.int(),
  msLeft: z.int(),
  lapsed: z.boolean(),
  rootId: id.optional(),
});
export type ListedClaim = z.output<typeof claim>;

const output = answer({
  claims: z.array(claim),
  total: z.int(),
  ...offsetPage,
});
export type ListClaimsOutput = z.output<typeof output>;

function render(result: ListClaimsOutput): string {
  return bounded([
    `${result.claims.length} of ${result.total} claims`,
    ...result.claims.map(
      (one) =>
        `${one.itemId} [${one.role}] ${one.agent} ${facts({ since: one.claimedAt, until: one.claimExpiresAt, fence: one.fence, lapsed: one.lapsed })} ${oneLine(one.title, 80)}`,
    ),
  ]);
}

export const listClaims = defineOperation({
  name: "list_claims",
  description: "List who holds which item, since when and until when.",
  input,
  output,
  annotations: readsOnly("List claims"),
  capability: "read",
  toolsets: [],
  mcp: false,
  render,
});
