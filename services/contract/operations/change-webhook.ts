/** `pause_webhook` and `delete_webhook`. What happens meanwhile is told after a pause, and never after a deletion. REST and CLI. */
import { z } from "zod";
import { writes } from "../annotations.ts";
import { answer } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { renderWebhook, webhook } from "../webhooks.ts";

const webhookId = z.uuid("must be the full id of a webhook, as lists show it");

const pauseInput = z.strictObject({
  webhookId,
  paused: fields.flag.default(true).describe("false: go on."),
  actor: fields.actor.optional(),
});
/** A parsed call. */
export type PauseWebhookInput = z.output<typeof pauseInput>;

export const pauseWebhook = defineOperation({
  name: "pause_webhook",
  description: "Stop sending to a webhook, or go on with everything that happened meanwhile.",
  input: pauseInput,
  output: webhook,
  annotations: writes("Pause a webhook", { destructive: false }),
  capability: "operate",
  toolsets: [],
  mcp: false,
  render: renderWebhook,
});

const deleteInput = z.strictObject({ webhookId, actor: fields.actor.optional() });
/** A parsed call. */
export type DeleteWebhookInput = z.output<typeof deleteInput>;

const deleted = answer({ webhookId: z.string(), deleted: z.literal(true) });
export type DeleteWebhookOutput = z.output<typeof deleted>;

export const deleteWebhook = defineOperation({
  name: "delete_webhook",
  description: "Delete a webhook with its deliveries.",
  input: deleteInput,
  output: deleted,
  annotations: writes("Delete a webhook", { destructive: true }),
  capability: "operate",
  toolsets: [],
  mcp: false,
  render: (result) => `deleted ${result.webhookId}`,
});
