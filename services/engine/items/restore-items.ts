/**
 * Undoing deletes. Items come back with their state, tenures and audit, unclaimed and
 * with higher fences; with those of their edges whose other end still exists and that
 * would close no cycle by now. Counters are taken anew from what is there, not from the
 * snapshot.
 */
import { recordAudit } from "../../../db/stores/audit-store.ts";
import {
  findLatestTrash,
  findTrashedEdges,
  lockTrash,
  restoreFromTrash,
  restoreTrashedEdges,
  type TrashEntry,
} from "../../../db/stores/trash-store.ts";
import { findParents } from "../../../db/stores/dependency-store.ts";
import { findExisting, findPath } from "../../../db/stores/item-write-store.ts";
import type { Handle } from "../../../db/statement.ts";
import type { ElementFailure } from "../../contract/answers.ts";
import { fault } from "../../contract/errors.ts";
import { DEPENDENCIES_PER_ITEM_MAX, TREE_DEPTH_MAX } from "../../contract/limits.ts";
import type { RestoreItems, RestoreItemsOutput } from "../../contract/operations/manage-items.ts";
import { isSatisfied } from "../../core/edges.ts";
import { addBlockers } from "../../core/move.ts";
import { judgeNewEdges } from "../../core/new-edges.ts";
import { blockersAbove, joinParent, judgePlacement } from "../../core/placement.ts";
import type { ItemState } from "../../core/state.ts";
import type { World } from "../../core/world.ts";
import { type GraphScope, loadOrderGraph, lockGraphsOf } from "../dependencies/order-graph.ts";
import { refreshCopies } from "../config/refresh-copies.ts";
import type { EngineDeps } from "../deps.ts";
import { askDoors, claimLost, withTenuresAbove } from "../writing/doors.ts";
import { failureOf } from "../writing/element-failure.ts";
import { afterCommit, CLAIMABLE, lockWorld, saveWorld, transact, type Wider } from "../writing/transact.ts";
import { once, type Answered, type WriteCall } from "../writing/write-call.ts";
import { placementFault } from "./placement-fault.ts";

/** What restoring one root did, as it is stored and replayed. */
interface RestoredRoot extends Record<string, unknown> {
  readonly id: string;
  readonly restored: number;
  readonly droppedDependencies: number;
}

type TrashedEdge = Awaited<ReturnType<typeof findTrashedEdges>>[number];

export async function restoreItems(
  deps: EngineDeps,
  call: WriteCall,
  input: RestoreItems,
): Promise<RestoreItemsOutput> {
  const done: Answered<RestoredRoot>[] = [];
  const failures: ElementFailure[] = [];
  const wanted = [
    ...input.trashIds.map((trashId) => ({ trashId, itemId: null })),
    ...input.itemIds.map((itemId) => ({ trashId: null, itemId })),
  ];
  for (const [index, { trashId, itemId }] of wanted.entries()) {
    try {
      done.push(await restoreRoot(deps, call, trashId, itemId, index));
    } catch (error) {
      failures.push(failureOf(deps, index, trashId ?? itemId ?? undefined, error));
    }
  }
  const answers = done.map((one) => one.answer);
  const dropped = answers.reduce((sum, one) => sum + one.droppedDependencies, 0);
  return {
    ids: answers.map((one) => one.id),
    restored: answers.reduce((sum, one) => sum + one.restored, 0),
    failed: failures.length,
    ...(failures.length === 0 ? {} : { failures }),
    ...(dropped === 0 ? {} : { droppedDependencies: dropped }),
    ...(done.some((one) => one.replayed) ? { replayed: true } : {}),
  };
}

async function restoreRoot(
  deps: EngineDeps,
  call: WriteCall,
  trashId: string | null,
  itemId: string | null,
  index: number,
): Promise<Answered<RestoredRoot>> {
  const scope: GraphScope = new Set();
  let world: World | null = null;
  const result = await transact(deps, async (tx, wider) => {
    world = null;
    return await once(call, tx, `r${index}`, async () => {
      const entry = await takeFromTrash(tx, trashId, itemId);
      const resting = await restIn(deps, call, tx, wider, entry, scope);
      const answer = await reconnect(deps, tx, resting, scope);
      await saveWorld(tx, resting.world);
      // Their project may have changed its configuration meanwhile.
      await refreshCopies(tx, deps.schemas, entry.items);
      const { rootId } = resting.world.get(answer.id);
      const data = { trashId: entry.id, restored: answer.restored };
      await recordAudit(tx, [{ action: "item.restored", itemId: answer.id, rootId, data }], call.author);
      world = resting.world;
      return { answer, targetId: null };
    });
  });
  if (world !== null) {
    afterCommit(deps, world);
    deps.coordination.wakeUps.publish([CLAIMABLE]);
  }
  return result;
}

async function takeFromTrash(tx: Handle, trashId: string | null, itemId: string | null): Promise<TrashEntry> {
  const id = trashId ?? (itemId === null ? null : await findLatestTrash(tx, itemId));
  const entry = id === null ? null : await lockTrash(tx, id);
  if (entry === null || entry.expired) {
    throw fault("RESOURCE_NOT_FOUND", `nothing in the trash for ${trashId ?? itemId}`, {
      hint: "Use the trashId that the delete answered; what was deleted is kept for 30 days.",
    });
  }
  if (entry.restored) {
    throw fault("CONFLICT_ERROR", `${entry.itemId} was already restored from this delete`, {
      hint: "Nothing to do: read the item with query_items.",
    });
  }
  return entry;
}

interface Resting {
  readonly world: World;
  readonly entry: TrashEntry;
  /** Edges whose other end still exists. */
  readonly edges: readonly TrashedEdge[];
  /** How many edges there were. */
  readonly edgesBefore: number;
  /** Those of the edges' ends that have children. */
  readonly containers: ReadonlySet<string>;
}

/** Puts the rows back where they hung, and locks them with everything that their return touches. */
async function restIn(
  deps: EngineDeps,
  call: WriteCall,
  tx: Handle,
  wider: Wider,
  entry: TrashEntry,
  scope: GraphScope,
): Promise<Resting> {
  const { itemId, parentId } = entry;
  const all = await findTrashedEdges(tx, entry.id);
  const inside = new Set(entry.items);
  const ends = all.flatMap((edge) => [edge.from_item, edge.to_item]).filter((end) => !inside.has(end));
  scope.add(itemId);
  const around = parentId === null ? ends : [...ends, parentId];
  const roots = await lockGraphsOf(tx, scope, around);
  const present = await findExisting(tx, ends);
  const edges = all.filter((edge) =>
    [edge.from_item, edge.to_item].every((end) => inside.has(end) || present.has(end)),
  );
  if (parentId !== null && !roots.has(parentId)) {
    throw fault("CONFLICT_ERROR", `the parent ${parentId} does not exist any more`, {
      hint: "Restore the parent first, if it is in the trash.",
    });
  }
  const above = parentId === null ? [] : await findPath(tx, parentId);
  await restoreFromTrash(tx, { trashId: entry.id, ancestors: above, depth: entry.depth });
  const containers = await findParents(
    tx,
    edges.map((edge) => edge.to_item),
  );
  const touched = [...entry.items, ...around];
  const subtrees = [...new Set([...wider.subtrees, itemId, ...containers])];
  const parents = parentId === null ? [] : [parentId];
  const tenures = await withTenuresAbove(tx, call, parents);
  const world = await lockWorld(
    deps,
    tx,
    touched,
    { ...wider, items: [...wider.items, ...tenures], subtrees },
    "none",
  );
  await refuseStale(deps, call, tx, world, parents);
  return { world, entry, edges, edgesBefore: all.length, containers };
}

/** A displaced holder may not hang anything below what it has lost. */
async function refuseStale(
  deps: EngineDeps,
  call: WriteCall,
  tx: Handle,
  world: World,
  parents: readonly string[],
): Promise<void> {
  const asked = parents.map((itemId) => ({ itemId, fence: null }));
  const verdicts = await askDoors(deps, tx, world, call, "open", asked);
  const lost = parents.find((_, position) => verdicts[position]?.kind === "claim_lost");
  if (lost !== undefined) throw claimLost(lost);
}

/** Enters the subtree in its parent's books and draws its edges again. */
async function reconnect(
  deps: EngineDeps,
  tx: Handle,
  { world, entry, edges, edgesBefore, containers }: Resting,
  scope: GraphScope,
): Promise<RestoredRoot> {
  const item = world.get(entry.itemId);
  joinAgain(world, entry, item);
  const blocking = edges.filter((edge) => edge.type === "BLOCKS");
  const graph = await loadOrderGraph(
    tx,
    scope,
    blocking.map((edge) => ({ id: edge.to_item, side: "start" as const })),
  );
  const verdicts = judgeNewEdges(
    edges.map((edge) => ({ from: edge.from_item, to: edge.to_item, blocks: edge.type === "BLOCKS" })),
    { exists: () => true, drawn: [], edgesOf: new Map(), edgesMax: DEPENDENCIES_PER_ITEM_MAX, order: graph },
  );
  const drawn = edges.filter((_, index) => verdicts[index] === null);
  await restoreTrashedEdges(
    tx,
    entry.id,
    drawn.map((edge) => edge.id),
  );
  for (const edge of drawn) {
    if (edge.type !== "BLOCKS") continue;
    const rule = {
      threshold: edge.unblock_at ?? "terminal",
      onCancelled: edge.on_cancelled ?? deps.settings.onCancelled,
    };
    if (!isSatisfied(rule, world.get(edge.from_item)))
      addBlockers(world, edge.to_item, 1, containers.has(edge.to_item));
  }
  world.events.push({
    type: "item.restored",
    itemId: entry.itemId,
    rootId: item.rootId,
    data: { descendants: entry.items.length - 1 },
  });
  return { id: entry.itemId, restored: entry.items.length, droppedDependencies: edgesBefore - drawn.length };
}

function joinAgain(world: World, entry: TrashEntry, item: ItemState): void {
  if (item.parentId === null) return;
  const parent = world.get(item.parentId);
  const refusal = judgePlacement(parent, {
    id: null,
    child: item,
    height: entry.height,
    depthMax: TREE_DEPTH_MAX,
  });
  if (refusal !== null) throw placementFault(refusal, parent.id);
  joinParent(world, parent.id, item);
  for (const state of [item, ...world.descendantsOf(item.id)]) {
    world.update(state.id, { ancestorBlockers: blockersAbove(parent) });
  }
}
