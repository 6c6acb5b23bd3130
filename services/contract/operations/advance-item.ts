/** `advance_item`: move items between roles, finish them, hand them back, and take the next one. */
import { z } from "zod";
import { writes } from "../annotations.ts";
import { answer, blocker, expectedNote, id, missingNote, role, violation } from "../answers.ts";
import { claimEntryInBrief, claimLines, claimResult } from "../claiming.ts";
import { countPresent, crossField, elementsOf, type AddFault } from "../cross-field.ts";
import { defineOperation } from "../define-operation.ts";
import * as fields from "../fields.ts";
import { BATCH_SIZE_MAX, NOTES_PER_TRANSITION_MAX, REASON_LENGTH_MAX } from "../limits.ts";
import { shownElsewhere, unlisted } from "../listing-marks.ts";
import { bounded, facts, matchesText, oneLine } from "../rendering.ts";
import { noteBody, noteKey, noteRole } from "../text-fields.ts";
import { failOnly, overrideSays } from "../transition-rules.ts";
import { FAILURE_CLASSES, TRIGGERS } from "../vocabulary.ts";

const trigger = z.enum(TRIGGERS, {
  error: ({ input }) =>
    typeof input === "string" && input.toLowerCase() === "cascade"
      ? "cascade is not a trigger for callers: parents follow their children by themselves"
      : undefined,
});

const transitionShape = {
  itemId: fields.itemRef,
  trigger,
  summary: fields.summary.optional(),
  actor: shownElsewhere(fields.actor, "If not the actor of the call.").optional(),
  fence: fields.fence.optional(),
  workerId: fields.workerId.optional(),
  reason: z.string().max(REASON_LENGTH_MAX).optional().describe("fail: what went wrong."),
  class: z.enum(FAILURE_CLASSES).optional().describe("fail: whose fault; environment does not count."),
  label: fields.statusLabel.optional(),
  credentialRefs: fields.credentialRefs.optional(),
  // For operators, with a reason: sets a claim, a death, open blockers or a review aside.
  override: unlisted(fields.flag.optional()),
  notes: z
    .array(z.strictObject({ key: noteKey, role: noteRole, body: noteBody }))
    .min(1)
    .max(NOTES_PER_TRANSITION_MAX)
    .optional()
    .describe("Written with the move, before its gate is judged."),
};
const transition = z.strictObject(transitionShape);
export type Transition = z.output<typeof transition>;

const shape = z
  .strictObject({
    transitions: z.array(transition).min(1).max(BATCH_SIZE_MAX).optional(),
    // The same fields for a single transition. Not described twice: the model reads them above.
    itemId: fields.itemRef.optional(),
    trigger: trigger.optional(),
    summary: transitionShape.summary,
    fence: z.int().min(1).optional(),
    reason: z.string().max(REASON_LENGTH_MAX).optional(),
    class: z.enum(FAILURE_CLASSES).optional(),
    label: transitionShape.label,
    override: transitionShape.override,
    notes: unlisted(transitionShape.notes),
    actor: fields.actor.optional(),
    workerId: fields.workerId.optional(),
    requestId: fields.requestId.optional(),
    capabilities: fields.nameCsv.optional(),
    claimNext: claimEntryInBrief.optional().describe("Claim this if every transition applied."),
  })
  .superRefine(...crossField(rules));

type Call = Readonly<Record<string, unknown>>;

function rules(call: Call, add: AddFault): void {
  const batched = call.transitions !== undefined;
  if (!batched && countPresent(call, ["itemId", "trigger"]) < 2) {
    add([], "needs transitions: [{itemId, trigger}], or itemId and trigger");
  }
  const outside = batched ? ["fence", "reason", "class", "label", "notes", "override"] : [];
  for (const name of outside) {
    if (call[name] !== undefined) add([name], "belongs into the elements of transitions when there are some");
  }
  if (!batched) failOnly(call, [], add);
  const batch = elementsOf(call.transitions);
  for (const [index, move] of batch) failOnly(move, ["transitions", index], add);
  const moves = batched ? batch.map(([, move]) => move) : [call];
  for (const [index, move] of batched ? batch : [[null, call] as const]) {
    overrideSays(move, call.actor, index === null ? [] : ["transitions", index], add);
  }
  if (call.requestId !== undefined) oneActor(call, moves, add);
  if (call.claimNext === undefined) return;
  if (call.requestId === undefined) {
    add(["requestId"], "is needed with claimNext, so that a retry claims nothing twice");
  }
  if (call.actor === undefined && moves[0]?.actor === undefined) {
    add(["actor"], "is needed with claimNext: who claims?");
  }
}

/** One key names one principal's call: with different actors nobody could say whose replay it is. */
function oneActor(call: Call, moves: readonly Call[], add: AddFault): void {
  const names = new Set(moves.map((move) => nameOf(move.actor ?? call.actor)));
  if (names.size < 2) return;
  add(["transitions"], "with a requestId, either no transition has an actor or all have the same actor.id");
}

function nameOf(actor: unknown): unknown {
  return typeof actor === "object" && actor !== null && "id" in actor ? actor.id : undefined;
}

const input = shape.transform(
  ({ transitions, itemId, trigger: single, summary, fence, reason, label, notes, override, ...call }) => {
    const { class: failureClass, ...rest } = call;
    if (transitions !== undefined) return { ...rest, transitions };
    const only = {
      itemId,
      trigger: single,
      summary,
      fence,
      reason,
      class: failureClass,
      label,
      notes,
      override,
    };
    return { ...rest, transitions: [only as Transition] };
  },
);
/** A parsed call; a single transition has become a batch of one. `actor` and `workerId` hold where an element has none. */
export type AdvanceItemInput = z.output<typeof input>;
export type AdvanceItemRequest = z.input<typeof input>;

const cascadeEvent = answer({
  itemId: id,
  title: z.string(),
  previousRole: role,
  targetRole: role,
  applied: z.boolean(),
  gateBlocked: z.boolean().optional(),
  missingNotes: z.array(missingNote).optional(),
  dependencyBlocked: z.boolean().optional(),
  roleBlocked: z.boolean().optional(),
  heldByAnother: z.boolean().optional(),
  resourceBlocked: z.boolean().optional(),
  contendedResources: z.array(z.string()).optional(),
});
export type CascadeEvent = z.output<typeof cascadeEvent>;

const applied = answer({
  itemId: id,
  trigger: z.string(),
  applied: z.literal(true),
  newRole: role,
  previousRole: role,
  statusLabel: z.string().nullable().optional(),
  actor: z.record(z.string(), z.unknown()).optional(),
  verification: z.record(z.string(), z.unknown()).optional(),
  summary: z.string().optional(),
  fence: z.int().optional(),
  claimReleased: z.boolean().optional(),
  availableAt: z.string().optional(),
  dead: z.boolean().optional(),
  /** An operator had taken these from the item. */
  lostResources: z.array(z.string()).optional(),
  cascadeEvents: z.array(cascadeEvent).optional(),
  unblockedItems: z.array(answer({ itemId: id, title: z.string() })).optional(),
  heldUpItems: z.array(answer({ itemId: id, title: z.string() })).optional(),
  expectedNotes: z.array(expectedNote),
  /** The first required note that is still to be written; its guidance is in the schema. */
  guidanceKey: z.string().optional(),
  skillPointer: z.string().optional(),
  noteProgress: answer({ filled: z.int(), remaining: z.int(), total: z.int() }).optional(),
  /** Who should do the new phase, as far as the schema says. */
  dispatch: answer({
    agent: z.string().optional(),
    model: z.string().optional(),
    effort: z.string().optional(),
  }).optional(),
  violations: z.array(violation).optional(),
  /** What an operator's override set aside: claim, dead, blockers, review. */
  setAside: z.array(z.string()).optional(),
  /** Keys of the notes that were written with the move. */
  notesWritten: z.array(z.string()).optional(),
  warnings: z.array(z.string()).optional(),
  replayed: z.boolean().optional(),
});
export type TransitionApplied = z.output<typeof applied>;

const refused = answer({
  itemId: id,
  trigger: z.string(),
  applied: z.literal(false),
  error: z.string(),
  errorCode: z.string(),
  errorKind: z.string(),
  hint: z.string().optional(),
  previousRole: role.optional(),
  targetRole: role.optional(),
  blockers: z.array(blocker).optional(),
  missingNotes: z.array(missingNote).optional(),
  violations: z.array(violation).optional(),
  contendedItemId: id.optional(),
  contendedResources: z.array(z.string()).optional(),
  /** Its place in the line for the resources; the first gets them. */
  position: z.int().optional(),
  retryAfterMs: z.int().optional(),
  details: z.record(z.string(), z.unknown()).optional(),
});
export type TransitionRefused = z.output<typeof refused>;

const output = answer({
  results: z.array(z.union([applied, refused])),
  summary: answer({ total: z.int(), succeeded: z.int(), failed: z.int() }),
  next: claimResult.optional(),
  workerId: z.string().optional(),
});
export type AdvanceItemOutput = z.output<typeof output>;

function resultLines(result: TransitionApplied | TransitionRefused): string[] {
  if (!result.applied) {
    return [
      `REFUSED ${result.itemId} ${result.trigger}: ${result.errorCode}: ${result.error}${matchesText(result.details)}`,
      ...(result.blockers ?? []).map(
        (edge) => `  waits for ${edge.fromItemId} (${edge.currentRole}, needs ${edge.requiredRole})`,
      ),
      ...(result.missingNotes ?? []).map(
        (note) => `  missing note ${note.key}: ${oneLine(note.description ?? "", 120)}`,
      ),
      result.hint === undefined
        ? ""
        : `Next: ${result.hint} ${facts({ position: result.position, retryAfterMs: result.retryAfterMs })}`.trim(),
    ];
  }
  const state = facts({
    label: result.statusLabel,
    fence: result.fence,
    claimReleased: result.claimReleased,
    dead: result.dead,
    availableAt: result.availableAt,
    lostResources: result.lostResources?.join(","),
    replayed: result.replayed,
  });
  const missing = result.expectedNotes
    .filter((note) => note.required && !note.exists)
    .map((note) => note.key);
  return [
    `${result.itemId} ${result.trigger}: ${result.previousRole} -> ${result.newRole} ${state}`.trim(),
    missing.length === 0 ? "" : `  notes to write now: ${missing.join(", ")}`,
    ...(result.cascadeEvents ?? []).map(
      (event) =>
        `  ${event.applied ? "parent" : "parent NOT moved"} ${event.itemId}: ${event.previousRole} -> ${event.targetRole}`,
    ),
    ...(result.unblockedItems ?? []).map((item) => `  unblocked ${item.itemId} ${oneLine(item.title, 80)}`),
    ...(result.heldUpItems ?? []).map((item) => `  now held up ${item.itemId} ${oneLine(item.title, 80)}`),
  ];
}

function render(result: AdvanceItemOutput): string {
  const { total, succeeded, failed } = result.summary;
  return bounded([
    total === 1 ? "" : `${succeeded} of ${total} applied, ${failed} refused`,
    ...(result.next === undefined ? [] : claimLines(result.next, result.workerId)),
    ...result.results.flatMap(resultLines),
    result.workerId === undefined || result.next === undefined ? "" : `workerId=${result.workerId}`,
  ]);
}

export const advanceItem = defineOperation({
  name: "advance_item",
  description:
    "Move items: start (queue to work, work to review or done), complete, block/hold, resume, cancel, reopen, " +
    "requeue (work to queue), rework (review to work), fail (this attempt failed; give reason). " +
    "One by itemId + trigger, or many by transitions, judged one by one. Pass the fence and workerId of your claim. " +
    "claimNext takes the next item in the same call.",
  input,
  output,
  annotations: writes("Advance items", { destructive: false }),
  capability: "advance",
  capabilitiesFor: ({ transitions, claimNext }) => [
    "advance",
    ...(transitions.some(({ notes }) => notes !== undefined) ? (["write-notes"] as const) : []),
    ...(transitions.some(({ override }) => override === true) ? (["operate"] as const) : []),
    ...(claimNext === undefined ? [] : (["claim"] as const)),
  ],
  toolsets: ["worker", "orchestrator"],
  mcp: true,
  render,
});
