/** `complete_tree`: complete or cancel many items, each through everything that a single transition goes through. */
import { z } from "zod";
import { writes } from "../annotations.ts";
import { answer, blocker, id, role } from "../answers.ts";
import { countPresent, crossField, type AddFault } from "../cross-field.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { TREE_ITEMS_MAX } from "../limits.ts";
import { bounded, facts, oneLine } from "../rendering.ts";

const shape = z
  .strictObject({
    rootId: fields.itemRef.optional().describe("An item with everything below it; or"),
    itemIds: z.array(fields.itemRef).min(1).max(TREE_ITEMS_MAX).optional(),
    trigger: z.enum(["complete", "cancel"]).default("complete"),
    includeRoot: fields.flag.optional().describe("With rootId; default true."),
    summary: fields.summary.optional(),
    actor: fields.actor.optional(),
    workerId: fields.workerId.optional(),
    requestId: fields.requestId.optional(),
  })
  .superRefine(...crossField(rules));

function rules(call: Readonly<Record<string, unknown>>, add: AddFault): void {
  if (countPresent(call, ["rootId", "itemIds"]) !== 1) add([], "needs exactly one of rootId and itemIds");
  if (call.itemIds !== undefined && call.includeRoot !== undefined)
    add(["includeRoot"], "goes with rootId; leave out of itemIds what is not meant");
}

type Shape = z.output<typeof shape>;
/** A parsed call. */
export interface CompleteTreeInput extends Pick<
  Shape,
  "trigger" | "summary" | "actor" | "workerId" | "requestId"
> {
  readonly of:
    | { readonly rootId: string; readonly includeRoot: boolean }
    | { readonly itemIds: readonly string[] };
}
export type CompleteTreeRequest = z.input<typeof shape>;

const input = shape.transform((call): CompleteTreeInput => {
  const { rootId, itemIds = [], includeRoot = true, trigger, summary, actor, workerId, requestId } = call;
  const of = rootId === undefined ? { itemIds } : { rootId, includeRoot };
  return { of, trigger, summary, actor, workerId, requestId };
});

const result = answer({
  itemId: id,
  title: z.string().optional(),
  applied: z.boolean(),
  trigger: z.string().optional(),
  /** It closed with the last of its children. */
  cascaded: z.boolean().optional(),
  newRole: role.optional(),
  statusLabel: z.string().optional(),
  skipped: z.boolean().optional(),
  skippedReason: z.string().optional(),
  gateErrors: z.array(z.string()).optional(),
  error: z.string().optional(),
  errorCode: z.string().optional(),
  errorKind: z.string().optional(),
  hint: z.string().optional(),
  blockers: z.array(blocker).optional(),
  retryAfterMs: z.int().optional(),
  replayed: z.boolean().optional(),
});
export type CompletedItem = z.output<typeof result>;

const output = answer({
  results: z.array(result),
  /** Results that are left out of a long answer: what went well first. */
  omitted: z.int().optional(),
  summary: answer({
    total: z.int(),
    completed: z.int(),
    skipped: z.int(),
    gateFailures: z.int(),
    failed: z.int(),
  }),
  /** Parents outside of the set that followed. */
  cascaded: z.array(answer({ itemId: id, title: z.string(), targetRole: role })).optional(),
  /** Items outside of the set that wait for nothing any more. */
  unblockedItems: z.array(answer({ itemId: id, title: z.string() })).optional(),
});
export type CompleteTreeOutput = z.output<typeof output>;

function lineOf(one: CompletedItem): string {
  const name = `${one.itemId} ${oneLine(one.title ?? "", 80)}`.trim();
  if (one.applied) return `${name}: ${one.trigger ?? ""}${one.cascaded === true ? " with its children" : ""}`;
  if (one.skipped === true) return `${name}: skipped, ${one.skippedReason ?? ""}`;
  const why = one.gateErrors?.join(", ") ?? `${one.errorCode ?? ""}: ${one.error ?? ""}`;
  return `REFUSED ${name}: ${why}${one.hint === undefined ? "" : ` Next: ${one.hint}`}`;
}

function render({ results, summary, omitted, unblockedItems = [] }: CompleteTreeOutput): string {
  const refused = results.filter((one) => !one.applied && one.skipped !== true);
  return bounded([
    facts({ ...summary, omitted }),
    ...refused.map(lineOf),
    ...results.filter((one) => !refused.includes(one)).map(lineOf),
    ...unblockedItems.map((item) => `unblocked ${item.itemId} ${oneLine(item.title, 80)}`),
  ]);
}

export const completeTree = defineOperation({
  name: "complete_tree",
  description:
    "Complete or cancel an item with everything below it, or a list of items, in order of dependencies, children " +
    "first. Each is judged as by advance_item; what depends on a refused one is skipped.",
  input,
  output,
  annotations: writes("Complete tree", { destructive: true }),
  capability: "advance",
  toolsets: ["orchestrator"],
  mcp: true,
  render,
});
