/** `list_trash`: what was deleted and can be brought back with `manage_items` restore. REST only. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { answer, at, id, offsetPage } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from "../limits.ts";
import { bounded, facts, oneLine } from "../rendering.ts";

const input = z.strictObject({
  rootId: fields.fullId.optional().describe("Deleted from this root, or the root itself."),
  restored: fields.flag.default(false).describe("true: also what was brought back already."),
  limit: fields.listLimit(LIST_LIMIT_MAX, LIST_LIMIT_DEFAULT),
  offset: fields.offset,
});
/** A parsed call. */
export type ListTrashInput = z.output<typeof input>;
export type ListTrashRequest = z.input<typeof input>;

const entry = answer({
  trashId: id,
  itemId: id,
  rootId: id,
  title: z.string(),
  /** The item and everything that went with it. */
  items: z.int(),
  deletedAt: at,
  deletedBy: z.string().optional(),
  restorableUntil: at,
  restoredAt: at.optional(),
});
export type TrashListEntry = z.output<typeof entry>;

const output = answer({
  entries: z.array(entry),
  total: z.int(),
  ...offsetPage,
});
export type ListTrashOutput = z.output<typeof output>;

function render(result: ListTrashOutput): string {
  return bounded([
    `${result.entries.length} of ${result.total} deletes`,
    ...result.entries.map(
      (one) =>
        `${one.trashId} ${facts({ item: one.itemId, items: one.items, deleted: one.deletedAt, until: one.restorableUntil })} ${oneLine(one.title, 80)}`,
    ),
  ]);
}

export const listTrash = defineOperation({
  name: "list_trash",
  description: "List what was deleted and can still be brought back, the latest first.",
  input,
  output,
  annotations: readsOnly("List the trash"),
  capability: "read",
  toolsets: [],
  mcp: false,
  render,
});
