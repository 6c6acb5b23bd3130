/**
 * What an operator sets aside with a reason: the claim of another, a death, open blockers, and
 * a review that nobody may do. A review is never passed by it: it is stored as skipped, so that
 * nobody later reads an approval that was not given. Notes of earlier phases, open children and
 * closed parents are not set aside: the first can be written, the others would break the graph.
 */
import { judgeGate } from "./gate.ts";
import { isForward, resolveTransition, type Role, type Trigger } from "./roles.ts";
import type { NoteObstacle } from "./schemas/note-gate.ts";
import type { ItemState } from "./state.ts";
import type { World } from "./world.ts";

export type SetAside = "claim" | "dead" | "blockers" | "review";

/** Worn by an item whose review was skipped, and the trigger that its history shows. */
export const SKIPPED_LABEL = "review-skipped";
export const SKIP_TRIGGER = "skip";

/** What is left of an obstacle once the review is set aside; null: nothing. */
export function besidesReview(world: World, item: ItemState, obstacle: NoteObstacle): NoteObstacle | null {
  const reviews = new Set(
    world.schemaOf(item).notes.flatMap(({ key, role }) => (role === "review" ? key : [])),
  );
  const missing = obstacle.missing.filter(({ role }) => role !== "review");
  const findings = obstacle.findings.filter(({ key }) => !reviews.has(key));
  return missing.length + findings.length === 0 ? null : { missing, findings };
}

/**
 * What stood against a move that is let pass.
 * @param before the item as it was found: a claim in the way is freed by now
 */
export function findSetAside(world: World, before: ItemState, trigger: Trigger): SetAside[] {
  const item = world.get(before.id);
  const target = resolveTransition({ ...item, hasReviewPhase: world.policyOf(item).hasReviewPhase }, trigger);
  if (target.kind === "refused") return [];
  const gate = judgeGate(world, item, target.role, trigger === "cancel");
  return [
    ...(before.claim === null ? [] : ["claim" as const]),
    ...(item.dead && trigger !== "cancel" ? ["dead" as const] : []),
    ...(item.blockers > 0 && asksBlockers(item, target.role, trigger) ? ["blockers" as const] : []),
    ...(gate === null ? [] : ["review" as const]),
  ];
}

/** Only what goes forward waits for blockers. */
export function asksBlockers(item: ItemState, to: Role, trigger: Trigger): boolean {
  if (trigger === "cancel") return false;
  return isForward(item.role, to) || (trigger === "resume" && to !== "queue");
}
