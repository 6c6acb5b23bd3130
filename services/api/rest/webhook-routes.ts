/** Webhooks and their deliveries. */
import { z } from "zod";
import { deleteWebhook, pauseWebhook } from "../../contract/operations/change-webhook.ts";
import { createWebhook } from "../../contract/operations/create-webhook.ts";
import { discardDeliveries, replayDeliveries } from "../../contract/operations/settle-deliveries.ts";
import { JSON_BODY, readRoute, type Route, route } from "./route.ts";

const AREA = "Webhooks";

const createBody = z.strictObject({
  url: z.string().describe("Where to send: a public https address."),
  types: z.array(z.string()).optional().describe("Only events of these types."),
  rootIds: z.array(z.string()).optional().describe("Only of these items and what is below them."),
});
const pauseBody = z.strictObject({ paused: z.boolean().describe("false: go on.") });
const settleBody = z.strictObject({
  deliveryIds: z.array(z.string()).optional(),
  webhookId: z.string().optional().describe("All dead ones of this webhook."),
});

function settleRoute(verb: "replay" | "discard", summary: string): Route {
  const operation = verb === "replay" ? replayDeliveries : discardDeliveries;
  return route({
    method: "POST",
    path: `/deliveries/${verb}`,
    area: AREA,
    summary,
    operation: `${verb}_deliveries`,
    body: settleBody,
    bodyRule: JSON_BODY,
    success: [{ status: 200, description: "How many", schema: operation.output }],
    refusals: [],
    toInput: ({ body, actor }) => ({ ...body, actor }),
  });
}

export const WEBHOOK_ROUTES: readonly Route[] = [
  readRoute({ path: "/webhooks", area: AREA, summary: "List webhooks", operation: "list_webhooks" }),
  route({
    method: "POST",
    path: "/webhooks",
    area: AREA,
    summary: "Have events sent to an address from now on; its secret is shown once",
    operation: "create_webhook",
    body: createBody,
    bodyRule: JSON_BODY,
    success: [{ status: 201, description: "The webhook and its secret", schema: createWebhook.output }],
    refusals: ["unavailable"],
    toInput: ({ body, actor }) => ({ ...body, actor }),
    toResponse: (output) => ({ status: 201, body: output }),
  }),
  route({
    method: "PATCH",
    path: "/webhooks/{webhookId}",
    area: AREA,
    summary: "Stop sending to a webhook, or go on with what happened meanwhile",
    operation: "pause_webhook",
    body: pauseBody,
    bodyRule: JSON_BODY,
    success: [{ status: 200, description: "The webhook", schema: pauseWebhook.output }],
    refusals: ["not_found"],
    toInput: ({ params, body, actor }) => ({ ...body, webhookId: params["webhookId"] ?? "", actor }),
  }),
  route({
    method: "DELETE",
    path: "/webhooks/{webhookId}",
    area: AREA,
    summary: "Delete a webhook with its deliveries",
    operation: "delete_webhook",
    success: [{ status: 200, description: "It is gone", schema: deleteWebhook.output }],
    refusals: ["not_found"],
    toInput: ({ params, actor }) => ({ webhookId: params["webhookId"] ?? "", actor }),
  }),
  readRoute({
    path: "/deliveries",
    area: AREA,
    summary: "List deliveries, and what came of each",
    operation: "list_deliveries",
  }),
  settleRoute("replay", "Try dead deliveries again"),
  settleRoute("discard", "Let go of dead deliveries; what came after for the same items goes on"),
];
