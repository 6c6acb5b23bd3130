/** `query_items`: read one item, or list items by what they are and where they stand. */
import { z } from "zod";
import { ancestor, answer, fullItemShape, id, itemHeadShape } from "../answers.ts";
import { crossField, type AddFault } from "../cross-field.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { commonFilterShape, windowsInOrder } from "../filters.ts";
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, TREE_DEPTH_MAX } from "../limits.ts";
import { bounded, facts, itemLine, oneLine } from "../rendering.ts";
import { CLAIM_STATUSES, READINESS, SORT_FIELDS } from "../vocabulary.ts";

const shape = z
  .strictObject({
    operation: z.enum(["get", "search"]),
    itemId: fields.itemRef.optional().describe("get."),
    includeAncestors: fields.flag.default(false),
    includeTimestamps: fields.flag.default(false),
    ...commonFilterShape,
    role: fields.roleCsv().optional(),
    depth: z.int().min(0).max(TREE_DEPTH_MAX).optional(),
    assignee: fields.agentName.optional().describe("Meant for this actor.id."),
    readiness: z.enum(READINESS).optional().describe("ready: can be claimed now."),
    claimStatus: z.enum(CLAIM_STATUSES).optional(),
    sortBy: z.enum(SORT_FIELDS).default("createdAt"),
    sortOrder: z.enum(["asc", "desc"]).default("desc"),
    limit: fields.listLimit(LIST_LIMIT_MAX, LIST_LIMIT_DEFAULT),
    offset: fields.offset,
  })
  .superRefine(...crossField(rules));

function rules(call: Readonly<Record<string, unknown>>, add: AddFault): void {
  windowsInOrder(call, add);
  if (call.operation === "get" && call.itemId === undefined) add(["itemId"], "is needed: which item to get");
  if (call.operation === "search" && call.itemId !== undefined) {
    add(["itemId"], "goes with get; to search below an item, pass it as ancestorId or parentId");
  }
}

type Shape = z.output<typeof shape>;
export type GetItem = Pick<Shape, "includeAncestors" | "includeTimestamps"> & {
  readonly operation: "get";
  readonly itemId: string;
};
export type SearchItems = Omit<Shape, "operation" | "itemId"> & { readonly operation: "search" };
/** A parsed call. */
export type QueryItemsInput = GetItem | SearchItems;
export type QueryItemsRequest = z.input<typeof shape>;

const input = shape.transform(({ operation, itemId, ...filter }): QueryItemsInput => {
  const { includeAncestors, includeTimestamps } = filter;
  if (operation === "get") return { operation, itemId: itemId ?? "", includeAncestors, includeTimestamps }; // Never empty: see the rules.
  return { operation, ...filter };
});

const fullItem = answer(fullItemShape);
export type FullItem = z.output<typeof fullItem>;

const listedItem = answer({
  id,
  ...itemHeadShape,
  isClaimed: z.boolean().optional(),
  dead: z.boolean().optional(),
  ancestors: z.array(ancestor).optional(),
  createdAt: z.string().optional(),
  modifiedAt: z.string().optional(),
  roleChangedAt: z.string().optional(),
});
export type ListedItem = z.output<typeof listedItem>;

const list = answer({
  items: z.array(listedItem),
  total: z.int(),
  returned: z.int(),
  hasMore: z.boolean(),
  limit: z.int(),
  offset: z.int(),
});
export type SearchItemsOutput = z.output<typeof list>;

const output = z.union([list, fullItem]);
export type QueryItemsOutput = z.output<typeof output>;

function render(result: QueryItemsOutput): string {
  if ("items" in result) {
    const { total, returned, hasMore } = result;
    return bounded([
      `${returned} of ${total} items${hasMore ? `; next page: offset ${result.offset + returned}` : ""}`,
      ...result.items.map(
        (item) => `${itemLine(item)}${item.isClaimed ? " (claimed)" : ""}${item.dead ? " (dead)" : ""}`,
      ),
    ]);
  }
  return bounded([
    itemLine(result),
    facts({
      version: result.version,
      type: result.type,
      parentId: result.parentId,
      assignee: result.assignee,
      needs: result.needs,
      statusLabel: result.statusLabel,
      isClaimed: result.isClaimed,
      attempts: result.attempts,
      dead: result.dead,
      availableAt: result.availableAt,
    }),
    result.summary ? `Summary: ${oneLine(result.summary, 1_000)}` : "",
    result.description ? `Description: ${oneLine(result.description, 4_000)}` : "",
    result.ancestors?.length
      ? `Path: ${result.ancestors.map((one) => `${one.id} ${oneLine(one.title, 60)}`).join(" > ")}`
      : "",
  ]);
}

export const queryItems = defineOperation({
  name: "query_items",
  description:
    "Read items. get: one item in full. search: a page of items by place (parentId, ancestorId = whole subtree), " +
    "role, tags, priority, type, times, readiness and claimStatus.",
  input,
  output,
  annotations: {
    title: "Query items",
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
  capability: "read",
  toolsets: ["worker", "orchestrator"],
  mcp: true,
  render,
});
