/** `list_tokens`: which credentials there are, and when each was last used. REST and CLI. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { answer, offsetPage } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from "../limits.ts";
import { bounded } from "../rendering.ts";
import { listedToken, renderToken } from "../tokens.ts";

const input = z.strictObject({
  ended: fields.flag.default(false).describe("Those that expired or were revoked too."),
  limit: fields.listLimit(LIST_LIMIT_MAX, LIST_LIMIT_DEFAULT),
  offset: fields.offset,
});
/** A parsed call. */
export type ListTokensInput = z.output<typeof input>;

const output = answer({ tokens: z.array(listedToken), total: z.int(), ...offsetPage });
export type ListTokensOutput = z.output<typeof output>;

export const listTokens = defineOperation({
  name: "list_tokens",
  description: "List tokens, the newest first. Secrets are never shown.",
  input,
  output,
  annotations: readsOnly("List tokens"),
  capability: "tokens",
  toolsets: [],
  mcp: false,
  render: ({ tokens, total }) => bounded([`${tokens.length} of ${total} tokens`, ...tokens.map(renderToken)]),
});
