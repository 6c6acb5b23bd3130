/**
 * Moving an item with everything below it to another parent, or to the top.
 *
 * The graphs of both roots, and of every root that the check for cycles reaches, are held
 * exclusively: opposite moves queue up, and the second finds the parent below itself. The
 * parent that was left is judged as if the item had finished, if closed children remain.
 */
import { hasOtherChildren, placeItems } from "../../../db/stores/item-write-store.ts";
import { findTitles } from "../../../db/stores/item-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault } from "../../contract/errors.ts";
import { TREE_DEPTH_MAX } from "../../contract/limits.ts";
import { cascade, type CascadeEvent, closeEmptied } from "../../core/cascade.ts";
import { containingPath, type OrderGraph } from "../../core/cycle.ts";
import { hangSubtree, heightOf, judgePlacement } from "../../core/placement.ts";
import type { ItemState } from "../../core/state.ts";
import type { World } from "../../core/world.ts";
import { type GraphScope, loadOrderGraph, lockGraphsOf } from "../dependencies/order-graph.ts";
import type { EngineDeps } from "../deps.ts";
import { withTenuresAbove } from "../writing/doors.ts";
import { lockWorld, type Wider } from "../writing/transact.ts";
import type { WriteCall } from "../writing/write-call.ts";
import { holderOf } from "./holder-of.ts";
import { placementFault } from "./placement-fault.ts";

export interface Moving {
  readonly world: World;
  readonly id: string;
  readonly parentId: string | null;
  readonly graph: OrderGraph | null;
}

/** Takes every lock that the move needs: graphs first, then the rows of the subtree and of both parents. */
export async function lockForMove(
  deps: EngineDeps,
  call: WriteCall,
  tx: Handle,
  wider: Wider,
  id: string,
  parentId: string | null,
  scope: GraphScope,
): Promise<Moving> {
  await lockGraphsOf(tx, scope, parentId === null ? [id] : [id, parentId]);
  const graph =
    parentId === null
      ? null
      : await loadOrderGraph(tx, scope, [
          { id, side: "start" },
          { id: parentId, side: "end" },
        ]);
  const subtrees = [...new Set([...wider.subtrees, id])];
  const items = parentId === null ? [id] : [id, parentId];
  const tenures = await withTenuresAbove(tx, call, items);
  const world = await lockWorld(deps, tx, items, { ...wider, items: [...wider.items, ...tenures], subtrees });
  return { world, id, parentId, graph };
}

/** Decides and applies the move. Answers what it set off above the old and the new place. */
export async function moveItemUnder(tx: Handle, call: WriteCall, moving: Moving): Promise<CascadeEvent[]> {
  const { world, id, parentId } = moving;
  const before = world.get(id);
  if (before.parentId === parentId) return [];
  if (parentId !== null) await refusePlace(tx, moving, before, parentId);
  const changed = hangSubtree(world, id, parentId);
  await placeItems(tx, changed);
  world.events.push({
    type: "item.moved",
    itemId: id,
    rootId: world.get(id).rootId,
    data: {
      from: before.parentId,
      to: parentId,
      fromAncestors: before.ancestors,
      toAncestors: world.get(id).ancestors,
    },
  });
  return await settleAround(tx, call, world, before);
}

async function refusePlace(tx: Handle, moving: Moving, before: ItemState, parentId: string): Promise<void> {
  const { world, id, graph } = moving;
  const parent = world.find(parentId);
  if (!parent) throw fault("RESOURCE_NOT_FOUND", `there is no item ${parentId} to be the parent`);
  const height = heightOf(world, id);
  const refusal = judgePlacement(parent, { id, child: before, height, depthMax: TREE_DEPTH_MAX });
  if (refusal !== null) throw placementFault(refusal, parentId);
  const path = graph === null ? null : containingPath(withoutParent(graph, before), id, parentId);
  if (path === null) return;
  const titles = await findTitles(tx, path);
  throw fault(
    "cycle_detected",
    `under that parent the item would wait for itself: ${path.map((one) => `"${titles.get(one) ?? one}"`).join(" before ")}`,
    { details: { path: path.map((one) => ({ id: one, title: titles.get(one) ?? "" })) } },
  );
}

function withoutParent(graph: OrderGraph, { id, parentId }: ItemState): OrderGraph {
  if (parentId === null) return graph;
  const siblings = (graph.children.get(parentId) ?? []).filter((child) => child !== id);
  return {
    blocks: graph.blocks,
    children: new Map(graph.children).set(parentId, siblings),
    parentOf: new Map(graph.parentOf).set(id, null),
  };
}

/** The place that was left may close; the new one may have to start. */
async function settleAround(
  tx: Handle,
  call: WriteCall,
  world: World,
  before: ItemState,
): Promise<CascadeEvent[]> {
  const { id, parentId: left } = before;
  const caller = holderOf(call);
  const started = cascade(world, id, before.role, call.author, caller);
  if (left === null || before.role === "terminal" || !(await hasOtherChildren(tx, left, id)))
    return started.events;
  const closed = closeEmptied(world, left, call.author, caller);
  return [...closed.events, ...started.events];
}
