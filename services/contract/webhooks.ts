/** The pieces that the operations on webhooks and their deliveries share. */
import { z } from "zod";
import { answer, at, id } from "./answers.ts";

export const WEBHOOK_URL_LENGTH_MAX = 2_000;
export const DELIVERY_STATES = ["pending", "delivered", "dead", "discarded"] as const;

/** A webhook as lists show it: everything but its secret. */
export const webhookShape = {
  webhookId: id,
  url: z.string(),
  /** What it is told of; null: everything. */
  types: z.array(z.string()).nullable(),
  /** Within these subtrees; null: everywhere. */
  rootIds: z.array(id).nullable(),
  paused: z.boolean(),
  /** The number of the last event that was looked at for it. */
  cursor: z.int(),
  createdAt: at,
  createdBy: z.string().nullable(),
};
export const webhook = answer({
  ...webhookShape,
  pending: z.int().optional(),
  /** Given up: they hold back what came after for the same item. */
  dead: z.int().optional(),
});
export type ListedWebhook = z.output<typeof webhook>;

export function renderWebhook(one: ListedWebhook): string {
  const open = `${one.pending ?? 0} pending, ${one.dead ?? 0} dead`;
  return `${one.webhookId} ${one.url}${one.paused ? " (paused)" : ""}: ${one.types?.join(",") ?? "everything"}; ${open}`;
}
