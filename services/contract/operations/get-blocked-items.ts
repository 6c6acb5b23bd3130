/** `get_blocked_items`: what is stuck, and on what. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { ancestor, answer, csvText, id, priority, role } from "../answers.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from "../limits.ts";
import { bounded, itemLine } from "../rendering.ts";

const input = z.strictObject({
  parentId: fields.itemRef.optional(),
  ancestorId: fields.itemRef.optional(),
  includeItemDetails: fields.flag.default(false).describe("Also summary, tags."),
  includeAncestors: fields.flag.default(false),
  limit: fields.listLimit(LIST_LIMIT_MAX, LIST_LIMIT_DEFAULT),
  offset: fields.offset,
});
/** A parsed call. */
export type GetBlockedItemsInput = z.output<typeof input>;
export type GetBlockedItemsRequest = z.input<typeof input>;

const blockedItem = answer({
  itemId: id,
  title: z.string(),
  role,
  priority,
  complexity: z.int().nullable().optional(),
  blockType: z.enum(["explicit", "dependency"]),
  blockedBy: z.array(
    answer({
      itemId: id,
      title: z.string(),
      role: z.string(),
      unblockAt: z.string().nullable().optional(),
      effectiveUnblockRole: z.string().optional(),
      satisfied: z.boolean(),
    }),
  ),
  blockerCount: z.int(),
  statusLabel: z.string().nullable().optional(),
  summary: z.string().optional(),
  tags: csvText,
  ancestors: z.array(ancestor).optional(),
});
export type BlockedItem = z.output<typeof blockedItem>;

const output = answer({
  blockedItems: z.array(blockedItem),
  total: z.int(),
  returned: z.int(),
  hasMore: z.boolean(),
  limit: z.int().optional(),
  offset: z.int().optional(),
});
export type GetBlockedItemsOutput = z.output<typeof output>;

function render(result: GetBlockedItemsOutput): string {
  return bounded([
    `${result.blockedItems.length} of ${result.total} blocked items${result.hasMore ? `; next page: offset ${(result.offset ?? 0) + result.returned}` : ""}`,
    ...result.blockedItems.flatMap((item) => {
      const open = item.blockedBy.filter((edge) => !edge.satisfied);
      const why =
        item.blockType === "explicit"
          ? `put on hold; trigger resume frees it`
          : `waits for ${item.blockerCount}`;
      return [
        `${itemLine({ ...item, id: item.itemId })}: ${why}`,
        ...open.map(
          (edge) => `  ${edge.itemId} is ${edge.role}, needs ${edge.effectiveUnblockRole ?? "terminal"}`,
        ),
      ];
    }),
  ]);
}

export const getBlockedItems = defineOperation({
  name: "get_blocked_items",
  description: "List open items that are on hold or wait for others, each with what blocks it.",
  input,
  output,
  annotations: readsOnly("List blocked items"),
  capability: "read",
  toolsets: ["orchestrator"],
  mcp: true,
  render,
});
