/** `revoke_token`: ends a token, on all replicas within a second. REST and CLI. */
import { z } from "zod";
import { writes } from "../annotations.ts";
import { answer } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { REASON_LENGTH_MAX } from "../limits.ts";
import { renderToken, tokenId, tokenShape } from "../tokens.ts";

const input = z.strictObject({
  tokenId,
  reason: z.string().trim().min(1).max(REASON_LENGTH_MAX).optional(),
  actor: fields.actor.optional(),
});
/** A parsed call. */
export type RevokeTokenInput = z.output<typeof input>;

const output = answer({
  ...tokenShape,
  /** False: it was revoked before. */
  changed: z.boolean(),
});
export type RevokeTokenOutput = z.output<typeof output>;

export const revokeToken = defineOperation({
  name: "revoke_token",
  description: "End a token for good.",
  input,
  output,
  annotations: writes("Revoke a token", { destructive: true }),
  capability: "tokens",
  toolsets: [],
  mcp: false,
  render: renderToken,
});
