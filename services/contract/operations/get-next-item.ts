/** `get_next_item`: what a claim with the same selector would be offered, best first. Reserves nothing. */
import { z } from "zod";
import { readsOnly } from "../annotations.ts";
import { ancestor, answer, at, csvText, id, priority, role } from "../answers.ts";
import { excludedCounts } from "../claiming.ts";
import { crossField } from "../cross-field.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { selectorShape, windowsInOrder } from "../filters.ts";
import { NEXT_LIMIT_DEFAULT, NEXT_LIMIT_MAX } from "../limits.ts";
import { reminderHead } from "../reminders.ts";
import { bounded, facts, itemLine, oneLine } from "../rendering.ts";

const input = z
  .strictObject({
    ...selectorShape,
    limit: fields.listLimit(NEXT_LIMIT_MAX, NEXT_LIMIT_DEFAULT),
    includeDetails: fields.flag.default(false).describe("Also summary, tags, parentId."),
    includeAncestors: fields.flag.default(false),
    includeClaimed: fields.flag.default(false),
    agent: fields.agentName.optional(),
    workerId: fields.workerId.optional(),
    capabilities: fields.nameCsv.optional(),
  })
  .superRefine(...crossField((call, add) => windowsInOrder(call, add)));
/** A parsed call. */
export type GetNextItemInput = z.output<typeof input>;
export type GetNextItemRequest = z.input<typeof input>;

const recommendation = answer({
  itemId: id,
  title: z.string(),
  role,
  priority,
  complexity: z.int().nullable().optional(),
  reason: z.string(),
  isClaimed: z.boolean().optional(),
  /** A reminder that has fired: acknowledge it. */
  ...reminderHead.partial().shape,
  summary: z.string().optional(),
  tags: csvText,
  parentId: id.nullable().optional(),
  ancestors: z.array(ancestor).optional(),
});
export type Recommendation = z.output<typeof recommendation>;

const output = answer({
  recommendations: z.array(recommendation),
  total: z.int(),
  excluded: excludedCounts.optional(),
  nextAt: at.optional(),
});
export type GetNextItemOutput = z.output<typeof output>;

function render(result: GetNextItemOutput): string {
  if (result.recommendations.length === 0) {
    const why = result.excluded === undefined ? "" : facts(result.excluded);
    return bounded([
      "Nothing to do for this filter.",
      why === "" ? "" : `Not offered: ${why}`,
      result.nextAt === undefined ? "" : `Look again at ${result.nextAt}, or claim with waitSeconds.`,
    ]);
  }
  return bounded([
    ...result.recommendations.flatMap((item) => [
      `${itemLine({ ...item, id: item.itemId })}: ${item.reason}`,
      item.reminderId === undefined
        ? ""
        : `  reminderId=${item.reminderId} ${facts({ toAgent: item.toAgent, toCapability: item.toCapability })} ${oneLine(item.note ?? "", 200)}`,
      item.summary ? `  ${oneLine(item.summary, 200)}` : "",
    ]),
    "Nothing is reserved: take one with claim_item.",
  ]);
}

export const getNextItem = defineOperation({
  name: "get_next_item",
  description:
    "Recommend items to work on next, best first, without taking any. Same filter as the selector of claim_item; " +
    "use claim_item directly when you mean to work.",
  input,
  output,
  annotations: readsOnly("Recommend next items"),
  capability: "read",
  toolsets: ["orchestrator"],
  mcp: true,
  render,
});
