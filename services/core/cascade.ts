/**
 * What a move of a child does to the parents above it.
 *
 * start: a child in work pulls queued parents to work, up the whole chain.
 * close: the last open child closes its parent, and so on upward.
 * reopen: a child that opens again opens the parents it had closed.
 *
 * Cascades do not ask for the holder of the parent, but one never closes a parent that
 * somebody else holds: that is reported, and made good when the claim ends. The outcome
 * of a closed parent is counted, not taken from the last child, so that siblings may
 * finish in any order.
 */
import { clearClaim } from "./clear-claim.ts";
import { judgeGate } from "./gate.ts";
import { judgeLeases } from "./leases/hold-leases.ts";
import { labelAfter, type Role } from "./roles.ts";
import { moveItem, type Unblocked } from "./move.ts";
import type { NoteObstacle } from "./schemas/note-gate.ts";
import type { Holder, ItemState } from "./state.ts";
import { type Author, NOBODY, NotLocked, type World } from "./world.ts";

export interface CascadeEvent {
  readonly itemId: string;
  readonly previousRole: Role;
  readonly targetRole: Role;
  readonly applied: boolean;
  readonly dependencyBlocked?: true;
  readonly roleBlocked?: true;
  /** Its notes do not let it pass. */
  readonly gateBlocked?: NoteObstacle;
  /** Somebody holds the parent: it closes when that claim ends. */
  readonly held?: true;
  /** What it has to have in work is taken: the child goes on without it. */
  readonly resourceBlocked?: true;
  readonly contendedResources?: readonly string[];
}

export interface CascadeReport {
  readonly events: CascadeEvent[];
  readonly unblocked: Unblocked[];
}

/** Runs whatever the move of `childId` from `from` to its present role sets off above it. */
export function cascade(
  world: World,
  childId: string,
  from: Role,
  by: Author,
  caller: Holder | null,
): CascadeReport {
  const report: CascadeReport = { events: [], unblocked: [] };
  const to = world.get(childId).role;
  const origin: Origin = { by, caller, cancels: world.get(childId).outcome === "cancelled" };
  if (to === "terminal" && from !== "terminal") closeUpward(world, childId, origin, report);
  if (from === "terminal" && to !== "terminal") reopenUpward(world, childId, by, report);
  if (to === "work") startUpward(world, childId, by, report);
  return report;
}

/** Closes the item itself if a cascade was withheld from it while it was held, then its parents. */
export function closeWithheld(world: World, id: string, report: CascadeReport): void {
  const state = world.get(id);
  if (!state.closeWithheld) return;
  if (state.role === "terminal" || state.openChildren > 0) {
    world.update(id, { closeWithheld: false });
    return;
  }
  closeOne(world, state, ITSELF, report);
  if (world.get(id).role === "terminal") closeUpward(world, id, ITSELF, report);
}

/** What a cascade began with. */
interface Origin {
  readonly by: Author;
  readonly caller: Holder | null;
  /** A cancelled child asks no parent for its notes: there is nothing to show for it. */
  readonly cancels: boolean;
}

const ITSELF: Origin = { by: NOBODY, caller: null, cancels: false };

/**
 * The last open child of `parentId` was moved away or deleted, and closed ones remain:
 * it closes as if that child had finished. One that has no child left has not done anything yet.
 */
export function closeEmptied(
  world: World,
  parentId: string,
  by: Author,
  caller: Holder | null,
): CascadeReport {
  const report: CascadeReport = { events: [], unblocked: [] };
  closeChain(world, world.get(parentId), { by, caller, cancels: false }, report);
  return report;
}

/** Asks for the whole chain at once when the parent is missing: one more try instead of one a level. */
function parentOf(world: World, id: string): ItemState | null {
  const { parentId, ancestors } = world.get(id);
  if (parentId === null) return null;
  const parent = world.find(parentId);
  if (!parent) throw new NotLocked(ancestors);
  return parent;
}

function closeUpward(world: World, id: string, origin: Origin, report: CascadeReport): void {
  const { parentId } = world.get(id);
  // A parent that is only counted keeps an open child.
  if (parentId !== null && world.tallies.has(parentId)) return;
  closeChain(world, parentOf(world, id), origin, report);
}

function closeChain(world: World, first: ItemState | null, origin: Origin, report: CascadeReport): void {
  for (let parent = first; parent; parent = parentOf(world, parent.id)) {
    if (parent.openChildren > 0 || parent.role === "terminal") return;
    if (world.policyOf(parent).lifecycle !== "auto") return;
    closeOne(world, parent, origin, report);
    if (world.get(parent.id).role !== "terminal") return;
  }
}

function closeOne(
  world: World,
  parent: ItemState,
  { by, caller, cancels }: Origin,
  report: CascadeReport,
): void {
  const event = { itemId: parent.id, previousRole: parent.role, targetRole: "terminal" as const };
  if (parent.role === "blocked") {
    report.events.push({ ...event, applied: false, roleBlocked: true });
    return;
  }
  if (parent.blockers > 0) {
    report.events.push({ ...event, applied: false, dependencyBlocked: true });
    return;
  }
  if (parent.claim !== null && !isSame(parent.claim, caller)) {
    world.update(parent.id, { closeWithheld: true });
    report.events.push({ ...event, applied: false, held: true });
    return;
  }
  const obstacle = judgeGate(world, parent, "terminal", cancels);
  if (obstacle !== null) {
    report.events.push({ ...event, applied: false, gateBlocked: obstacle });
    return;
  }
  clearClaim(world, parent.id, "completed", null);
  const outcome = parent.doneChildren > 0 ? "done" : "cancelled";
  const unblocked = moveItem(world, parent.id, {
    role: "terminal",
    outcome,
    label: labelAfter(
      outcome === "done" ? "cascade" : "cancel",
      "terminal",
      parent.statusLabel,
      world.schemaOf(parent).labels,
    ),
    trigger: "cascade",
    summary: null,
    by,
  });
  report.events.push({ ...event, applied: true });
  report.unblocked.push(...unblocked);
}

/**
 * The closed ancestor that an item would be alive under if it opened again: one whose schema keeps
 * cascades from it. Null: whatever is closed above opens with it.
 */
export function keptClosedAbove(world: World, id: string): string | null {
  for (let parent = parentOf(world, id); parent?.role === "terminal"; parent = parentOf(world, parent.id)) {
    if (world.policyOf(parent).lifecycle !== "auto") return parent.id;
  }
  return null;
}

function reopenUpward(world: World, id: string, by: Author, report: CascadeReport): void {
  for (let parent = parentOf(world, id); parent?.role === "terminal"; parent = parentOf(world, parent.id)) {
    // A live child under a closed parent would never be offered: without what work takes, it opens to the queue.
    applyUpward(world, parent, judgeLeases(world, parent) === null ? "work" : "queue", by, report);
  }
}

/** A parent that was only glanced at and is not queued has nothing to do with a start. */
function queuedParentOf(world: World, id: string): ItemState | null {
  const { parentId } = world.get(id);
  if (parentId === null) return null;
  const glimpsed = world.find(parentId) ? undefined : world.glimpsedRole(parentId);
  if (glimpsed !== undefined && glimpsed !== "queue") return null;
  const parent = parentOf(world, id);
  return parent?.role === "queue" ? parent : null;
}

function startUpward(world: World, id: string, by: Author, report: CascadeReport): void {
  for (let parent = queuedParentOf(world, id); parent; parent = queuedParentOf(world, parent.id)) {
    if (world.policyOf(parent).lifecycle !== "auto") return;
    if (parent.blockers > 0) {
      report.events.push({
        itemId: parent.id,
        previousRole: parent.role,
        targetRole: "work",
        applied: false,
        dependencyBlocked: true,
      });
      return;
    }
    const obstacle = judgeGate(world, parent, "work", false);
    if (obstacle !== null) {
      report.events.push({
        itemId: parent.id,
        previousRole: parent.role,
        targetRole: "work",
        applied: false,
        gateBlocked: obstacle,
      });
      return;
    }
    const contended = judgeLeases(world, parent);
    if (contended !== null) {
      report.events.push({
        itemId: parent.id,
        previousRole: parent.role,
        targetRole: "work",
        applied: false,
        resourceBlocked: true,
        contendedResources: contended.keys,
      });
      return;
    }
    applyUpward(world, parent, "work", by, report);
  }
}

function applyUpward(world: World, parent: ItemState, role: Role, by: Author, report: CascadeReport): void {
  const unblocked = moveItem(world, parent.id, {
    role,
    outcome: null,
    label: labelAfter("cascade", role, parent.statusLabel, world.schemaOf(parent).labels),
    trigger: "cascade",
    summary: null,
    by,
  });
  report.events.push({ itemId: parent.id, previousRole: parent.role, targetRole: role, applied: true });
  report.unblocked.push(...unblocked);
}

function isSame(claim: Holder, caller: Holder | null): boolean {
  return caller !== null && claim.agent === caller.agent && claim.session === caller.session;
}
