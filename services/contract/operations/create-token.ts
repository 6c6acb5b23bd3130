/** `create_token`: a credential for an agent or a program. Its secret is in the answer, and nowhere else. REST and CLI. */
import { z } from "zod";
import { writes } from "../annotations.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { TOKEN_NAME_LENGTH_MAX, TOKEN_ROOTS_MAX } from "../limits.ts";
import { CAPABILITIES } from "../operation.ts";
import { lifeDays, mintedToken, renderToken } from "../tokens.ts";

// No requestId: a stored answer would keep the secret. A token whose answer was lost is revoked.
const input = z.strictObject({
  name: z.string().trim().min(1).max(TOKEN_NAME_LENGTH_MAX).describe("What it is for."),
  capabilities: z
    .array(z.enum(CAPABILITIES))
    .min(1)
    .max(CAPABILITIES.length)
    .describe("What it may do; admin is everything."),
  rootIds: z
    .array(fields.itemRef)
    .min(1)
    .max(TOKEN_ROOTS_MAX)
    .optional()
    .describe("It sees these items and what is below them. Everything without."),
  pinnedRootId: fields.itemRef
    .optional()
    .describe("It works in this one tree: sees nothing else, whatever rootIds says."),
  agentId: fields.agentName.optional().describe("The only actor.id it may speak for."),
  expiresInDays: lifeDays,
  actor: fields.actor.optional(),
});
/** A parsed call. */
export type CreateTokenInput = z.output<typeof input>;

export const createToken = defineOperation({
  name: "create_token",
  description: "Make a token. Its text is shown once.",
  input,
  output: mintedToken,
  annotations: { ...writes("Create a token", { destructive: false }), idempotentHint: false },
  capability: "tokens",
  toolsets: [],
  mcp: false,
  render: (result) => `${renderToken(result)}\n${result.token}`,
});
