/**
 * What narrows a set of items. The selector of a claim and `get_next_item` take
 * exactly the same filter, so that looking and taking cannot mean different things.
 */
import { z } from "zod";
import { crossField, type AddFault } from "./cross-field.ts";
import * as fields from "./fields.ts";
import { CLAIMABLE_ROLES, ORDERINGS } from "./vocabulary.ts";

/** Filters that every list of items understands. */
export const commonFilterShape = {
  parentId: fields.itemRef.optional(),
  ancestorId: fields.itemRef.optional(),
  tags: fields.tagCsv
    .refine((tags) => tags.length > 0, "names no tag; leave it out to match items with any tags or none")
    .optional()
    .describe("Comma-separated; any matches."),
  priority: fields.priority.optional(),
  type: fields.itemType.optional(),
  createdAfter: fields.instant.optional().describe("ISO 8601."),
  createdBefore: fields.instant.optional(),
  modifiedAfter: fields.instant.optional(),
  modifiedBefore: fields.instant.optional(),
  roleChangedAfter: fields.instant.optional(),
  roleChangedBefore: fields.instant.optional(),
};

/** The filter of `claim_item` selectors and `get_next_item`. */
export const selectorShape = {
  role: fields.roleCsv(CLAIMABLE_ROLES).optional(),
  ...commonFilterShape,
  complexityMax: fields.complexity.optional(),
  orderBy: z.enum(ORDERINGS).default("priority"),
  containers: fields.flag.default(false).describe("Also items with open children."),
  startable: fields.flag.default(false).describe("Only what a start would accept now."),
};

/**
 * The windows of a filter (`createdAfter` < `createdBefore` …) must be in order: an
 * inverted one would silently match nothing.
 */
export function windowsInOrder(
  filter: Readonly<Record<string, unknown>>,
  add: AddFault,
  at: readonly string[] = [],
): void {
  for (const name of ["created", "modified", "roleChanged"]) {
    const after = filter[`${name}After`];
    const before = filter[`${name}Before`];
    if (!(after instanceof Date && before instanceof Date) || after < before) continue;
    add([...at, `${name}After`], `must be before ${name}Before, else nothing can match; swap the two`);
  }
}

export const selector = z
  .strictObject(selectorShape)
  .superRefine(...crossField((filter, add) => windowsInOrder(filter, add)));
export type Selector = z.output<typeof selector>;
