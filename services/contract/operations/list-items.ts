/**
 * `list_items`: items in full, page by page: by filter, the tree below an item, or the way
 * down to it. What a program reads; models are better served by `query_items`. REST only.
 */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { answer, fullItemShape } from "../answers.ts";
import { crossField, type AddFault } from "../cross-field.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { commonFilterShape, windowsInOrder } from "../filters.ts";
import { ITEM_PAGE_MAX, LIST_LIMIT_DEFAULT, TREE_DEPTH_MAX } from "../limits.ts";
import { bounded, itemLine } from "../rendering.ts";
import { CLAIM_STATUSES, READINESS, SORT_FIELDS } from "../vocabulary.ts";

const input = z
  .strictObject({
    view: z.enum(["list", "tree", "path"]).default("list"),
    itemId: fields.itemRef.optional().describe("tree: its top, which comes first; path: whose ancestors."),
    depth: z.int().min(0).max(TREE_DEPTH_MAX).optional().describe("tree: so many levels below the top."),
    rootsOnly: fields.flag.default(false),
    rootId: fields.itemRef.optional(),
    allTags: commonFilterShape.tags,
    ...commonFilterShape,
    role: fields.roleCsv().optional(),
    assignee: fields.agentName.optional(),
    readiness: z.enum(READINESS).optional(),
    claimStatus: z.enum(CLAIM_STATUSES).optional(),
    sortBy: z.enum(SORT_FIELDS).default("createdAt"),
    sortOrder: z.enum(["asc", "desc"]).default("desc"),
    limit: fields.listLimit(ITEM_PAGE_MAX, LIST_LIMIT_DEFAULT),
    offset: fields.offset,
  })
  .superRefine(...crossField(rules));

function rules(call: Readonly<Record<string, unknown>>, add: AddFault): void {
  windowsInOrder(call, add);
  const ofOne = call.view === "tree" || call.view === "path";
  if (ofOne && call.itemId === undefined) add(["itemId"], "is needed: which item");
  if (!ofOne && call.itemId !== undefined) add(["itemId"], "goes with tree and path");
  if (call.view !== "tree" && call.depth !== undefined) add(["depth"], "goes with tree");
}

/** A parsed call. */
export type ListItemsFullInput = z.output<typeof input>;

const item = answer({
  ...fullItemShape,
  /** Fields of which only the beginning is there; the item by itself has all of them. */
  clipped: z.array(z.string()).optional(),
});
export type ListedFullItem = z.output<typeof item>;

const output = answer({
  items: z.array(item),
  total: z.int(),
  hasMore: z.boolean(),
  limit: z.int(),
  offset: z.int(),
});
export type ListItemsFullOutput = z.output<typeof output>;

function render({ items, total }: ListItemsFullOutput): string {
  return bounded([`${items.length} of ${total} items`, ...items.map(itemLine)]);
}

export const listItems = defineOperation({
  name: "list_items",
  description: "List items in full: by filter, the tree below one, or the way down to one.",
  input,
  output,
  annotations: readsOnly("List items in full"),
  capability: "read",
  toolsets: [],
  mcp: false,
  render,
});
