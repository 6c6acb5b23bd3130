/**
 * `replay_deliveries` and `discard_deliveries`: what becomes of tellings that were given up.
 * Until one of them is done, what came after for the same item waits: order is promised. REST and CLI.
 */
import { z } from "zod";
import { writes } from "../annotations.ts";
import { answer } from "../answers.ts";
import { crossField } from "../cross-field.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { BATCH_SIZE_MAX } from "../limits.ts";

const input = z
  .strictObject({
    deliveryIds: z.array(z.uuid("must be the full id of a delivery")).min(1).max(BATCH_SIZE_MAX).optional(),
    webhookId: z
      .uuid("must be the full id of a webhook")
      .optional()
      .describe("All dead ones of this webhook."),
    actor: fields.actor.optional(),
  })
  .superRefine(
    ...crossField((call, add) => {
      if ((call["deliveryIds"] === undefined) === (call["webhookId"] === undefined))
        add([], "needs either deliveryIds or webhookId");
    }),
  );
/** A parsed call. */
export type SettleDeliveriesInput = z.output<typeof input>;

const output = answer({ settled: z.int() });
export type SettleDeliveriesOutput = z.output<typeof output>;

const shared = { input, output, capability: "operate", toolsets: [], mcp: false } as const;

export const replayDeliveries = defineOperation({
  ...shared,
  name: "replay_deliveries",
  description: "Try dead deliveries again, from the first try on.",
  annotations: writes("Replay deliveries", { destructive: false }),
  render: ({ settled }) => `replayed ${settled}`,
});

export const discardDeliveries = defineOperation({
  ...shared,
  name: "discard_deliveries",
  description: "Let go of dead deliveries; what came after for the same items goes on.",
  annotations: writes("Discard deliveries", { destructive: true }),
  render: ({ settled }) => `discarded ${settled}`,
});
