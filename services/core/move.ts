/**
 * Moving one item between roles, and what follows for its neighbours' counters: the
 * parent's open and done children, the dependents' blockers, and the blocked ancestors
 * of everything below a dependent. Every role change goes through here, whoever asked
 * for it, so the counters cannot drift.
 */
import { isSatisfied } from "./edges.ts";
import { letGo, takeLeases } from "./leases/hold-leases.ts";
import type { Outcome, ResumableRole, Role } from "./roles.ts";
import type { ItemState } from "./state.ts";
import { type Author, NotLocked, type World } from "./world.ts";

export interface Move {
  readonly role: Role;
  readonly outcome: Outcome | null;
  readonly label: string | null;
  readonly trigger: string;
  readonly summary: string | null;
  readonly by: Author;
  /** What the caller says that it used, besides what the schema declares. */
  readonly credentials?: readonly string[];
}

export interface Unblocked {
  readonly itemId: string;
}

/** Applies the move and answers which waiting items have just lost their last blocker. */
export function moveItem(world: World, id: string, move: Move): Unblocked[] {
  const before = world.get(id);
  const after = world.update(id, {
    role: move.role,
    outcome: move.role === "terminal" ? (move.outcome ?? "done") : null,
    statusLabel: move.label,
    previousRole: move.role === "blocked" ? resumable(before) : null,
    ...(move.role === "terminal" ? { availableAt: null, closeWithheld: false } : {}),
    ...(move.role !== "blocked" ? { dead: false } : {}),
  });
  if (before.role === "work" && after.role !== "work") letGo(world, id, move.by.agent);
  if (before.role !== "work" && after.role === "work") takeLeases(world, id, move.by.agent);
  // Whoever moves elsewhere waits no longer.
  else world.leases.serve(id);
  world.transitions.push({
    itemId: id,
    rootId: after.rootId,
    fromRole: before.role,
    toRole: after.role,
    fromLabel: before.statusLabel,
    toLabel: after.statusLabel,
    trigger: move.trigger,
    summary: move.summary,
    by: move.by,
    fence: after.fence,
    consumed: consumedBy(world, after, before.role, move.credentials ?? []),
  });
  world.events.push({
    type: "item.advanced",
    itemId: id,
    rootId: after.rootId,
    data: { trigger: move.trigger, from: before.role, to: after.role },
  });
  countInParent(world, before, after);
  return settleEdges(world, before, after, move.trigger === "cascade");
}

/** What entering work takes comes first. */
function consumedBy(
  world: World,
  after: ItemState,
  from: Role,
  credentials: readonly string[],
): readonly string[] {
  const entersWork = after.role === "work" && from !== "work";
  return [...new Set([...(entersWork ? world.leases.declaredBy(after).keys : []), ...credentials])];
}

function resumable(state: ItemState): ResumableRole | null {
  if (state.role === "blocked") return state.previousRole;
  return state.role === "terminal" ? null : state.role;
}

const isOpen = (state: ItemState): number => (state.role === "terminal" ? 0 : 1);
const isDone = (state: ItemState): number => (state.outcome === "done" ? 1 : 0);

function countInParent(world: World, before: ItemState, after: ItemState): void {
  const open = isOpen(after) - isOpen(before);
  const done = isDone(after) - isDone(before);
  if (after.parentId === null || (open === 0 && done === 0)) return;
  const parent = world.find(after.parentId);
  if (!parent) {
    if (world.tally(after.parentId, open, done)) return;
    // The whole chain and what waits for it: one more try instead of one a level.
    throw new NotLocked([...after.ancestors, after.id]);
  }
  world.update(parent.id, {
    openChildren: parent.openChildren + open,
    doneChildren: parent.doneChildren + done,
  });
}

function settleEdges(world: World, before: ItemState, after: ItemState, isCascade: boolean): Unblocked[] {
  const unblocked: Unblocked[] = [];
  const missing: NotLocked[] = [];
  for (const edge of world.edgesFrom(after.id)) {
    const change = Number(isSatisfied(edge, before)) - Number(isSatisfied(edge, after));
    if (change === 0) continue;
    try {
      const dependent = addBlockers(world, edge.to, change, edge.toHasChildren);
      if (change < 0 && dependent.blockers === 0 && dependent.role !== "terminal") {
        unblocked.push({ itemId: dependent.id });
      }
    } catch (error) {
      // Asked for all at once: a blocker of many containers must not start over for each of them.
      if (!(error instanceof NotLocked)) throw error;
      missing.push(error);
    }
  }
  if (missing.length === 0) return unblocked;
  const subtrees = missing.flatMap((one) => one.subtrees);
  throw new NotLocked(
    missing.flatMap((one) => one.items),
    // A cascade that is on its way up will ask the same above: once for all levels.
    isCascade && subtrees.length > 0 ? [...subtrees, ...followersAbove(world, after)] : subtrees,
  );
}

/** Containers that wait for an ancestor of the item. */
function followersAbove(world: World, item: ItemState): string[] {
  const edges = item.ancestors.filter((id) => world.hasEdgesOf(id)).flatMap((id) => world.edgesFrom(id));
  return edges.filter((edge) => edge.toHasChildren).map((edge) => edge.to);
}

/** Changes an item's blocker count, and tells its subtree when it becomes blocked or free. */
export function addBlockers(world: World, id: string, change: number, hasChildren: boolean): ItemState {
  const before = world.get(id);
  const after = world.update(id, { blockers: before.blockers + change });
  const turned = Number(after.blockers > 0) - Number(before.blockers > 0);
  if (turned !== 0 && hasChildren) {
    for (const descendant of world.descendantsOf(id)) {
      world.update(descendant.id, { ancestorBlockers: world.get(descendant.id).ancestorBlockers + turned });
    }
  }
  return after;
}
