/** `list_webhooks`: who is told of events, and what waits or was given up. REST and CLI. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { answer } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import { bounded } from "../rendering.ts";
import { renderWebhook, webhook } from "../webhooks.ts";

const input = z.strictObject({});

const output = answer({ webhooks: z.array(webhook) });
export type ListWebhooksOutput = z.output<typeof output>;

export const listWebhooks = defineOperation({
  name: "list_webhooks",
  description: "List webhooks, and how many of their deliveries are open or given up.",
  input,
  output,
  annotations: readsOnly("List webhooks"),
  capability: "operate",
  toolsets: [],
  mcp: false,
  render: ({ webhooks }) => bounded([`${webhooks.length} webhooks`, ...webhooks.map(renderWebhook)]),
});
