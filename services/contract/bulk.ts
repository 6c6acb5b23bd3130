/**
 * What operators do to many items at once: those that are named, or all that a filter means,
 * in portions. A dry run answers how many there are and changes nothing.
 */
import { z } from "zod";
import { answer, elementFailure, id } from "./answers.ts";
import { type AddFault, countPresent } from "./cross-field.ts";
import * as fields from "./fields.ts";
import { BATCH_SIZE_MAX } from "./limits.ts";

/** Fields that every bulk operation takes. */
export const bulkShape = {
  itemIds: z.array(fields.itemRef).min(1).max(BATCH_SIZE_MAX).optional().describe("These."),
  all: fields.flag.default(false).describe("true: every one there is, when no filter is given."),
  dryRun: fields.flag.default(false).describe("true: only count."),
  reason: fields.reason,
  actor: fields.actor,
  requestId: fields.requestId.optional(),
};

/** Either items or a filter: nothing at all must not come to mean everything. */
export function namesOneSet(
  call: Readonly<Record<string, unknown>>,
  filters: readonly string[],
  add: AddFault,
): void {
  const all = call["all"] === true || call["all"] === "true";
  const filtered = countPresent(call, filters) > 0;
  if (Number(call["itemIds"] !== undefined) + Number(filtered || all) === 1) return;
  add(
    [],
    `needs itemIds, or a filter (${filters.join(", ")}), or all: true; and not itemIds beside a filter`,
  );
}

/** What came of it, beside what the operation itself answers for each item. */
export const bulkAnswerShape = {
  /** How many the call meant, before anything was done. */
  matched: z.int(),
  failed: z.int(),
  failures: z.array(elementFailure).optional(),
  /** More match than one call takes: call again. */
  hasMore: z.boolean(),
  dryRun: z.boolean().optional(),
  replayed: z.boolean().optional(),
};

export const movedItem = answer({ itemId: id, title: z.string(), role: z.string() });
