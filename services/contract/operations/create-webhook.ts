/** `create_webhook`: have events sent to an address. Its secret is in the answer, and nowhere else. REST and CLI. */
import { z } from "zod";
import { writes } from "../annotations.ts";
import { answer } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import { EVENT_TYPES, isEventType } from "../events.ts";
import * as fields from "../fields.ts";
import { TOKEN_ROOTS_MAX } from "../limits.ts";
import { renderWebhook, WEBHOOK_URL_LENGTH_MAX, webhookShape } from "../webhooks.ts";

// No requestId: a stored answer would keep the secret. A webhook whose answer was lost is deleted.
const input = z.strictObject({
  url: z
    .url({ protocol: /^https?$/, error: "must be an address like https://example.com/hook" })
    .max(WEBHOOK_URL_LENGTH_MAX)
    .describe("Where to send: a public https address, unless the server is configured for others."),
  types: z
    .array(z.string().refine(isEventType, `must be one of ${Object.keys(EVENT_TYPES).join(", ")}`))
    .min(1)
    .optional()
    .describe("Only events of these types. All without."),
  rootIds: z
    .array(fields.itemRef)
    .min(1)
    .max(TOKEN_ROOTS_MAX)
    .optional()
    .describe("Only of these items and what is below them."),
  actor: fields.actor.optional(),
});
/** A parsed call. */
export type CreateWebhookInput = z.output<typeof input>;

const output = answer({ ...webhookShape, secret: z.string() });
export type CreateWebhookOutput = z.output<typeof output>;

export const createWebhook = defineOperation({
  name: "create_webhook",
  description: "Have events sent to an address from now on. Its secret is shown once.",
  input,
  output,
  annotations: { ...writes("Create a webhook", { destructive: false }), idempotentHint: false },
  capability: "operate",
  toolsets: [],
  mcp: false,
  render: (result) => `${renderWebhook(result)}\n${result.secret}`,
});
