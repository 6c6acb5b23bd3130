/** `list_dead`: items whose attempts are used up, for an operator to replay or discard. REST only. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { answer, at, id, offsetPage } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { commonFilterShape } from "../filters.ts";
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from "../limits.ts";
import { bounded, facts, oneLine } from "../rendering.ts";

/** Which dead items are meant; replaying and discarding take the same. */
export const deadFilterShape = {
  ancestorId: commonFilterShape.ancestorId.describe("Within this subtree."),
  type: commonFilterShape.type,
  tags: commonFilterShape.tags,
};
export const DEAD_FILTERS = Object.keys(deadFilterShape);

const input = z.strictObject({
  ...deadFilterShape,
  limit: fields.listLimit(LIST_LIMIT_MAX, LIST_LIMIT_DEFAULT),
  offset: fields.offset,
});
/** A parsed call. */
export type ListDeadInput = z.output<typeof input>;
export type ListDeadRequest = z.input<typeof input>;

const deadItem = answer({
  itemId: id,
  rootId: id,
  title: z.string(),
  type: z.string().optional(),
  statusLabel: z.string().optional(),
  attempts: z.int(),
  diedAt: at,
  /** Of its latest attempt. */
  lastEndReason: z.string().optional(),
  lastDetail: z.string().optional(),
});
export type DeadItem = z.output<typeof deadItem>;

const output = answer({
  items: z.array(deadItem),
  total: z.int(),
  ...offsetPage,
});
export type ListDeadOutput = z.output<typeof output>;

function render(result: ListDeadOutput): string {
  return bounded([
    `${result.items.length} of ${result.total} dead items`,
    ...result.items.map(
      (one) =>
        `${one.itemId} ${facts({ attempts: one.attempts, since: one.diedAt, ended: one.lastEndReason })} ${oneLine(one.title, 80)}`,
    ),
  ]);
}

export const listDead = defineOperation({
  name: "list_dead",
  description: "List the items whose attempts are used up, those that died last at the head.",
  input,
  output,
  annotations: readsOnly("List dead items"),
  capability: "read",
  toolsets: [],
  mcp: false,
  render,
});
