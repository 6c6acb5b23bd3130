/**
 * Where an item hangs in its tree: who may hang it there, what its subtree looks like
 * afterwards, and the books of the parents it leaves and joins. Creating, moving,
 * deleting and restoring all keep those books here, so that no path forgets a counter.
 */
import type { Outcome, Role } from "./roles.ts";
import type { ItemState } from "./state.ts";
import type { World } from "./world.ts";

export interface Child {
  readonly role: Role;
  readonly outcome: Outcome | null;
}

export type PlacementRefusal =
  | { readonly code: "parent_closed" }
  | { readonly code: "own_descendant" }
  | { readonly code: "too_deep"; readonly depth: number };

export interface Placement {
  /** The subtree to hang up; a new item is one without id and without anything below. */
  readonly id: string | null;
  readonly child: Child;
  /** Levels below it. */
  readonly height: number;
  readonly depthMax: number;
}

/** May the subtree hang under `parent`? A live child under a closed parent would never be offered and never be missed. */
export function judgePlacement(parent: ItemState, placement: Placement): PlacementRefusal | null {
  const { id, child, height, depthMax } = placement;
  if (id !== null && (parent.id === id || parent.ancestors.includes(id))) return { code: "own_descendant" };
  if (parent.role === "terminal" && child.role !== "terminal") return { code: "parent_closed" };
  const depth = parent.ancestors.length + 1 + height;
  return depth > depthMax ? { code: "too_deep", depth } : null;
}

/** Ancestors with an unsatisfied edge, as a child of `parent` has to count them. */
export function blockersAbove(parent: ItemState | null): number {
  return parent === null ? 0 : parent.ancestorBlockers + (parent.blockers > 0 ? 1 : 0);
}

/** Enters a child in its parent's books. */
export function joinParent(world: World, parentId: string, child: Child): void {
  const parent = count(world, parentId, child, 1);
  if (child.role !== "terminal" && parent.closeWithheld) world.update(parentId, { closeWithheld: false });
}

/** Strikes a child from its parent's books. */
export function leaveParent(world: World, parentId: string, child: Child): void {
  count(world, parentId, child, -1);
}

function count(world: World, parentId: string, child: Child, change: 1 | -1): ItemState {
  const parent = world.get(parentId);
  return world.update(parentId, {
    openChildren: parent.openChildren + (child.role === "terminal" ? 0 : change),
    doneChildren: parent.doneChildren + (child.outcome === "done" ? change : 0),
  });
}

/**
 * Hangs the item with everything below it under `parentId`, or makes it a root.
 * Answers every item whose place changed. The subtree must be locked.
 */
export function hangSubtree(world: World, id: string, parentId: string | null): ItemState[] {
  const item = world.get(id);
  const parent = parentId === null ? null : world.get(parentId);
  const above = parent === null ? [] : [...parent.ancestors, parent.id];
  const blocked = blockersAbove(parent) - item.ancestorBlockers;
  const below = world.descendantsOf(id);
  if (item.parentId !== null) leaveParent(world, item.parentId, item);
  if (parentId !== null) joinParent(world, parentId, item);
  world.update(id, { parentId });
  return [item, ...below].map((state) =>
    world.update(state.id, {
      rootId: above[0] ?? id,
      ancestors: [...above, ...state.ancestors.slice(item.ancestors.length)],
      ancestorBlockers: state.ancestorBlockers + blocked,
    }),
  );
}

/** Levels below the item, counted over its locked subtree. */
export function heightOf(world: World, id: string): number {
  const { ancestors } = world.get(id);
  return Math.max(0, ...world.descendantsOf(id).map((state) => state.ancestors.length - ancestors.length));
}
