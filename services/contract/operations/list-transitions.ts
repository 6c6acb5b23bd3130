/** `list_transitions`: the moves of an item, or of all, the latest first. REST only. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { answer, at, id, role } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { LIST_LIMIT_DEFAULT, TRANSITIONS_LIMIT_MAX } from "../limits.ts";
import { bounded } from "../rendering.ts";
import { writer } from "../text-fields.ts";

const input = z.strictObject({
  itemId: fields.itemRef.optional(),
  since: fields.instant.optional().describe("At or after this instant."),
  limit: fields.listLimit(TRANSITIONS_LIMIT_MAX, LIST_LIMIT_DEFAULT),
  offset: fields.offset,
});
/** A parsed call. */
export type ListTransitionsInput = z.output<typeof input>;

/** A move as it is on record, but for who made it. */
export const transitionShape = {
  id: z.string(),
  itemId: id,
  fromRole: role,
  toRole: role,
  trigger: z.string(),
  statusLabel: z.string().optional(),
  summary: z.string().optional(),
  occurredAt: at,
  consumedCredentials: z.array(z.string()).optional(),
};

const transition = answer({
  ...transitionShape,
  actor: writer.optional(),
  verification: z.record(z.string(), z.unknown()).optional(),
});
export type ListedTransition = z.output<typeof transition>;

const output = answer({
  transitions: z.array(transition),
  total: z.int(),
  hasMore: z.boolean(),
  limit: z.int(),
  offset: z.int(),
});
export type ListTransitionsOutput = z.output<typeof output>;

function render({ transitions, total }: ListTransitionsOutput): string {
  return bounded([
    `${transitions.length} of ${total} transitions, the latest first`,
    ...transitions.map(
      (one) => `${one.occurredAt} ${one.itemId} ${one.trigger}: ${one.fromRole} -> ${one.toRole}`,
    ),
  ]);
}

export const listTransitions = defineOperation({
  name: "list_transitions",
  description: "List the moves of an item, or of all items, the latest first.",
  input,
  output,
  annotations: readsOnly("List transitions"),
  capability: "read",
  toolsets: [],
  mcp: false,
  render,
});
