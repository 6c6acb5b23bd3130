/** `rotate_token`: a new secret for a token; the old one ends at once. REST and CLI. */
import { z } from "zod";
import { writes } from "../annotations.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { lifeDays, mintedToken, renderToken, tokenId } from "../tokens.ts";

const input = z.strictObject({
  tokenId,
  expiresInDays: lifeDays.describe("Counted from now."),
  actor: fields.actor.optional(),
});
/** A parsed call. */
export type RotateTokenInput = z.output<typeof input>;

export const rotateToken = defineOperation({
  name: "rotate_token",
  description: "Give a token a new secret, shown once. The old one is refused from now on.",
  input,
  output: mintedToken,
  annotations: { ...writes("Rotate a token", { destructive: true }), idempotentHint: false },
  capability: "tokens",
  toolsets: [],
  mcp: false,
  render: (result) => `${renderToken(result)}\n${result.token}`,
});
