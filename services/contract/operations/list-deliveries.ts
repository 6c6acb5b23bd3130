/** `list_deliveries`: what became of each telling. REST and CLI. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { answer, at, id, offsetPage } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from "../limits.ts";
import { bounded, facts } from "../rendering.ts";
import { DELIVERY_STATES } from "../webhooks.ts";

const input = z.strictObject({
  webhookId: z.uuid("must be the full id of a webhook").optional().describe("Of this webhook."),
  state: z.enum(DELIVERY_STATES).optional().describe("In this state."),
  limit: fields.listLimit(LIST_LIMIT_MAX, LIST_LIMIT_DEFAULT),
  offset: fields.offset,
});
/** A parsed call. */
export type ListDeliveriesInput = z.output<typeof input>;

const delivery = answer({
  deliveryId: id,
  webhookId: id,
  /** Number of the event. */
  eventId: z.string(),
  type: z.string(),
  itemId: id.optional(),
  state: z.enum(DELIVERY_STATES),
  tries: z.int(),
  /** What came of the last try. */
  lastStatus: z.int().optional(),
  lastReason: z.string().optional(),
  lastTriedAt: at.optional(),
  /** When it is tried again; only of one that is pending. */
  nextAt: at.optional(),
  endedAt: at.optional(),
  createdAt: at,
});
export type ListedDelivery = z.output<typeof delivery>;

const output = answer({ deliveries: z.array(delivery), ...offsetPage });
export type ListDeliveriesOutput = z.output<typeof output>;

export const listDeliveries = defineOperation({
  name: "list_deliveries",
  description: "List deliveries to webhooks, the latest event first, and what came of each.",
  input,
  output,
  annotations: readsOnly("List deliveries"),
  capability: "operate",
  toolsets: [],
  mcp: false,
  render: ({ deliveries, hasMore }) =>
    bounded([
      `${deliveries.length} deliveries${hasMore ? ", and more" : ""}`,
      ...deliveries.map(
        (one) =>
          `${one.deliveryId} ${one.type} ${facts({ state: one.state, tries: one.tries, last: one.lastReason ?? one.lastStatus, next: one.nextAt })}`,
      ),
    ]),
});
