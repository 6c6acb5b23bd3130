/**
 * One transition of one item, decided over the working set: who may, where to, what
 * stands against it, what follows. `advance_item` applies the answer; previews throw it
 * away. A refusal changes nothing.
 */
import { cascade, type CascadeEvent, closeWithheld, keptClosedAbove } from "./cascade.ts";
import { clearClaim } from "./clear-claim.ts";
import { applyFailure, keepOpen } from "./fail.ts";
import { isSatisfied } from "./edges.ts";
import { strangeCredential } from "./leases/declared.ts";
import { judgeLeases, type LeaseObstacle } from "./leases/hold-leases.ts";
import { gateFindings, judgeGate } from "./gate.ts";
import {
  asksBlockers,
  besidesReview,
  findSetAside,
  type SetAside,
  SKIP_TRIGGER,
  SKIPPED_LABEL,
} from "./override.ts";
import { moveItem } from "./move.ts";
import { isUsedUp } from "./retry.ts";
import { sendsBackOnceMore, stopReviewing } from "./review.ts";
import { labelAfter, resolveTransition, type Role, type Trigger } from "./roles.ts";
import type { IndependenceFinding, NoteObstacle } from "./schemas/note-gate.ts";
import type { EndReason, Holder, ItemState } from "./state.ts";
import { endTenure } from "./tenure.ts";
import { judgeWriter, type Writer, type WriterContext } from "./writer.ts";
import type { Author, World } from "./world.ts";

export interface AdvanceRequest {
  readonly itemId: string;
  readonly trigger: Trigger;
  readonly summary: string | null;
  /** What the caller says that it used. */
  readonly credentials?: readonly string[];
  /** Worn instead of the trigger's own label. */
  readonly label: string | null;
  readonly writer: Writer;
  readonly by: Author;
  /** Of `fail`: whose fault it was, and what there is to show for it. */
  readonly failure: { readonly class: "item" | "environment"; readonly reason: string | null };
  /** Operators may bring back the dead and override holders; agents may not. */
  readonly operator: boolean;
  /** An operator also sets open blockers and a review aside; see `override.ts`. */
  readonly override?: boolean;
  /** A number in [0, 1) for the backoff. */
  readonly random: number;
}

export type AdvanceVerdict = AdvanceApplied | { readonly kind: "refused"; readonly refusal: AdvanceRefusal };

export interface AdvanceApplied {
  readonly kind: "applied";
  readonly previousRole: Role;
  readonly state: ItemState;
  readonly cascades: readonly CascadeEvent[];
  readonly unblocked: readonly string[];
  /** What goes on waiting for this item although it is over: its edges do not accept a cancelled blocker. */
  readonly heldUp: readonly string[];
  readonly claimEnded: boolean;
  /** What an operator had taken from it. */
  readonly lostLeases: readonly string[];
  /** Notes that should have had another author; where the schema refuses such, there are none. */
  readonly findings: readonly IndependenceFinding[];
  /** What stood against it and was overridden. */
  readonly setAside: readonly SetAside[];
}

export interface OpenChild {
  readonly itemId: string;
  readonly title: string;
  readonly role: string;
}

export type AdvanceRefusal =
  | { readonly code: "claim_lost" }
  | {
      readonly code: "not_claim_holder";
      readonly msLeft: number;
      /** The claim's expiry has passed in the database: ask the clock about this fence and try again. */
      readonly expired: boolean;
      readonly fence: number;
      readonly ttlMs: number;
      readonly sameAgent: boolean;
    }
  | { readonly code: "item_dead" }
  | { readonly code: "invalid_transition"; readonly message: string; readonly from: Role }
  | { readonly code: "dependency_blocked"; readonly blockers: number; readonly to: Role }
  /** `children`: some of them, once somebody has looked up what they are called. */
  | {
      readonly code: "open_children";
      readonly openChildren: number;
      readonly children?: readonly OpenChild[];
    }
  /** The caller names a resource that is none of the item's. */
  | { readonly code: "strange_credential"; readonly credential: string; readonly declared: readonly string[] }
  /** It would be alive under a closed item that no cascade opens. */
  | { readonly code: "parent_closed"; readonly parentId: string }
  | {
      readonly code: "gate_blocked";
      readonly obstacle: NoteObstacle;
      readonly from: Role;
      readonly to: Role;
    }
  | {
      readonly code: "resource_unavailable";
      readonly contended: LeaseObstacle;
      /** Its place in the line; null if it has none, since nobody holds it. */
      readonly position: number | null;
    };

export function decideAdvance(world: World, request: AdvanceRequest, context: WriterContext): AdvanceVerdict {
  const before = world.get(request.itemId);
  const refusal = judge(world, request, context);
  if (refusal !== null) return { kind: "refused", refusal };
  const setAside = request.override === true ? findSetAside(world, before, request.trigger) : [];
  return { ...apply(world, request, setAside.includes("review")), setAside };
}

/** Everything that can stand against it. Frees a lapsed claim in the way only when nothing else does. */
function judge(world: World, request: AdvanceRequest, context: WriterContext): AdvanceRefusal | null {
  const item = world.get(request.itemId);
  const writer = request.operator
    ? ({ kind: item.claim === null ? "ok" : "free_first" } as const)
    : judgeWriter(item, request.writer, "holder", context);
  if (writer.kind === "claim_lost") return { code: "claim_lost" };
  if (writer.kind === "not_holder") {
    return {
      code: "not_claim_holder",
      msLeft: writer.msLeft,
      expired: writer.expired,
      sameAgent: writer.sameAgent,
      fence: item.fence,
      ttlMs: item.claim?.ttlMs ?? 0,
    };
  }
  if (writer.kind !== "free_first") return standInLine(world, item, judgeMove(world, item, request));
  // Tried on a fork: where freeing leaves the item is for the one function that frees to say.
  const fork = world.fork();
  freeFirst(fork, request);
  const against = judgeMove(fork, fork.get(item.id), request);
  if (against === null) freeFirst(world, request);
  return against;
}

/** The one thing that a refusal leaves behind: whoever holds the item and found a resource taken is next for it. */
function standInLine(world: World, item: ItemState, refusal: AdvanceRefusal | null): AdvanceRefusal | null {
  if (refusal?.code !== "resource_unavailable" || item.claim === null) return refusal;
  world.leases.wait(
    item.id,
    world.leases.declaredBy(item).requirements.map(({ key }) => key),
  );
  return { ...refusal, position: refusal.contended.ahead + 1 };
}

function freeFirst(world: World, request: AdvanceRequest): void {
  endTenure(world, request.itemId, {
    reason: request.operator ? "revoked" : "expired",
    requeue: true,
    detail: null,
    by: request.by,
  });
}

function judgeMove(world: World, item: ItemState, request: AdvanceRequest): AdvanceRefusal | null {
  const { trigger, credentials = [] } = request;
  const declared = world.leases.declaredBy(item).keys;
  const strange = strangeCredential(credentials, declared);
  if (strange !== null) return { code: "strange_credential", credential: strange, declared };
  const operatorOnly =
    (item.dead && trigger !== "cancel") || (trigger === "reopen" && isUsedUp(item, world.policyOf(item)));
  if (operatorOnly && !request.operator) return { code: "item_dead" };
  const target = resolveTransition({ ...item, hasReviewPhase: world.policyOf(item).hasReviewPhase }, trigger);
  if (target.kind === "refused") {
    return { code: "invalid_transition", message: target.message, from: item.role };
  }
  const override = request.override === true;
  if (!override && item.blockers > 0 && asksBlockers(item, target.role, trigger)) {
    return { code: "dependency_blocked", blockers: item.blockers, to: target.role };
  }
  // A live child under a closed parent would never be offered and never be missed.
  if (target.role === "terminal" && item.openChildren > 0) {
    return { code: "open_children", openChildren: item.openChildren };
  }
  const closed = item.role === "terminal" ? keptClosedAbove(world, item.id) : null;
  if (closed !== null) return { code: "parent_closed", parentId: closed };
  const gate = judgeGate(world, item, target.role, trigger === "cancel");
  const obstacle = gate !== null && override ? besidesReview(world, item, gate) : gate;
  if (obstacle !== null) return { code: "gate_blocked", obstacle, from: item.role, to: target.role };
  const contended = target.role === "work" && item.role !== "work" ? judgeLeases(world, item) : null;
  return contended === null ? null : { code: "resource_unavailable", contended, position: null };
}

function apply(world: World, request: AdvanceRequest, skips: boolean): Omit<AdvanceApplied, "setAside"> {
  const before = world.get(request.itemId);
  const held = before.claim;
  const cascades: CascadeEvent[] = [];
  const unblocked: string[] = [];
  if (request.trigger === "fail") {
    applyFailure(world, before, request, cascades, unblocked);
  } else {
    applyMove(world, before, { ...request, skips }, cascades, unblocked);
  }
  const state = world.get(before.id);
  return {
    kind: "applied",
    findings: gateFindings(world, before, state.role, request.trigger === "cancel"),
    previousRole: before.role,
    state,
    cascades,
    unblocked: [...new Set(unblocked)],
    heldUp: state.outcome === "cancelled" ? heldUpBy(world, state) : [],
    claimEnded: held !== null && state.claim === null,
    lostLeases: before.lostLeases,
  };
}

function heldUpBy(world: World, state: ItemState): string[] {
  return world
    .edgesFrom(state.id)
    .filter((edge) => !isSatisfied(edge, state) && world.get(edge.to).role !== "terminal")
    .map((edge) => edge.to);
}

function applyMove(
  world: World,
  before: ItemState,
  request: AdvanceRequest & { readonly skips: boolean },
  cascades: CascadeEvent[],
  unblocked: string[],
): void {
  const { trigger, skips } = request;
  const target = resolveTransition(
    { ...before, hasReviewPhase: world.policyOf(before).hasReviewPhase },
    trigger,
  );
  if (target.kind !== "to") throw new Error("a judged transition was refused");
  if (trigger === "rework" && !request.operator && sendsBackOnceMore(world, before)) {
    keepOpen(world, before.id);
    stopReviewing(world, before, request, { events: cascades, unblocked });
    return;
  }
  const ends = endReason(trigger, target.role, target.outcome);
  if (ends !== null) clearClaim(world, before.id, ends, null);
  const freed = moveItem(world, before.id, {
    role: target.role,
    outcome: target.outcome,
    label:
      request.label ??
      (skips
        ? SKIPPED_LABEL
        : labelAfter(trigger, target.role, before.statusLabel, world.schemaOf(before).labels)),
    trigger: skips ? SKIP_TRIGGER : trigger,
    summary: request.summary,
    by: request.by,
    credentials: request.credentials ?? [],
  });
  resetCount(world, before, target.role, request.operator);
  const above = cascade(world, before.id, before.role, request.by, before.claim ?? holderOf(request.writer));
  if (trigger === "rework") {
    keepOpen(world, before.id);
    world.update(before.id, { reviewRounds: before.reviewRounds + 1 });
  }
  // With its holder gone nothing keeps a container open whose closing was only withheld.
  if (world.get(before.id).claim === null) closeWithheld(world, before.id, above);
  cascades.push(...above.events);
  unblocked.push(...[...freed, ...above.unblocked].map((one) => one.itemId));
}

/** Who acts may hold the parent without holding the child. */
function holderOf({ agent, session }: Writer): Holder | null {
  return agent === null || session === null ? null : { agent, session };
}

/** Finishing ends the tenure well; handing the item to others ends it too; everything else keeps it. */
function endReason(trigger: Trigger, role: Role, outcome: "done" | "cancelled" | null): EndReason | null {
  if (role === "terminal") return outcome === "done" ? "completed" : "released";
  return trigger === "requeue" || trigger === "rework" ? "released" : null;
}

/**
 * A new phase starts a new count; coming back to it from a block does not, or a block would
 * wash off every failure. So does a person who brings an item back; automation that reopens does not.
 */
function resetCount(world: World, before: ItemState, role: Role, operator: boolean): void {
  const finished = role === "terminal" && world.get(before.id).outcome === "done";
  const revived =
    operator && role !== "terminal" && (before.dead || isUsedUp(before, world.policyOf(before)));
  const entersReview = role === "review" && before.role === "work";
  if (entersReview || finished || revived) world.update(before.id, { attempts: 0, availableAt: null });
  if (before.role === "terminal" || revived) world.update(before.id, { reviewRounds: 0 });
}
