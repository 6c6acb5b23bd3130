/**
 * Deleting items: each root with everything below it in one transaction, or nothing of
 * it. What is removed goes to the trash first. The edges go with the items, so those who
 * waited for one of them may be free: the answer names them.
 *
 * The graph is held exclusively, so nothing is hung into the subtree meanwhile, and every
 * row of it is locked, so nobody claims or moves an item that is about to go.
 */
import { randomUUID } from "node:crypto";
import { findContainersHeldUp } from "../../../db/stores/dependency-store.ts";
import { findTitles } from "../../../db/stores/item-store.ts";
import {
  deleteItems as deleteRows,
  findSubtree,
  hasOtherChildren,
  orderByDepth,
} from "../../../db/stores/item-write-store.ts";
import { recordAudit } from "../../../db/stores/audit-store.ts";
import { keepInTrash } from "../../../db/stores/trash-store.ts";
import type { Handle } from "../../../db/statement.ts";
import type { ElementFailure } from "../../contract/answers.ts";
import { fault } from "../../contract/errors.ts";
import type { DeleteItems, DeleteItemsOutput } from "../../contract/operations/manage-items.ts";
import { type CascadeEvent, closeEmptied } from "../../core/cascade.ts";
import { letGo } from "../../core/leases/hold-leases.ts";
import { isSatisfied } from "../../core/edges.ts";
import { addBlockers } from "../../core/move.ts";
import { leaveParent } from "../../core/placement.ts";
import { endTenure } from "../../core/tenure.ts";
import type { World } from "../../core/world.ts";
import { type GraphScope, lockGraphsOf } from "../dependencies/order-graph.ts";
import type { EngineDeps } from "../deps.ts";
import { askDoors, claimLost, type DeadFences, lookForDead, withTenuresAbove } from "../writing/doors.ts";
import { failureOf } from "../writing/element-failure.ts";
import { afterCommit, lockWorld, saveWorld, transact, type Wider } from "../writing/transact.ts";
import { once, type Answered, type WriteCall } from "../writing/write-call.ts";
import { type NamedCascade, nameCascades } from "./cascade-events.ts";
import { holderOf } from "./holder-of.ts";

/** What deleting one root did, as it is stored and replayed. */
interface DeletedRoot extends Record<string, unknown> {
  readonly id: string;
  readonly trashId: string;
  readonly restorableUntil: string;
  readonly descendants: number;
  readonly freed: { readonly itemId: string; readonly title: string }[];
  readonly cascadeEvents: readonly NamedCascade[];
}

export async function deleteItems(
  deps: EngineDeps,
  call: WriteCall,
  input: DeleteItems,
): Promise<DeleteItemsOutput> {
  const done: Answered<DeletedRoot>[] = [];
  const failures: ElementFailure[] = [];
  for (const id of await deepestFirst(deps, input.itemIds)) {
    const index = input.itemIds.indexOf(id);
    try {
      done.push(await deleteRoot(deps, call, id, input.recursive, index));
    } catch (error) {
      failures.push(failureOf(deps, index, id, error));
    }
  }
  const answers = done.map((one) => one.answer);
  const descendants = answers.reduce((sum, one) => sum + one.descendants, 0);
  const gone = new Set(answers.map((one) => one.id));
  const freed = answers.flatMap((one) => one.freed).filter((item) => !gone.has(item.itemId));
  const cascadeEvents = answers.flatMap((one) => one.cascadeEvents);
  const output = {
    ids: answers.map((one) => one.id),
    deleted: answers.length + descendants,
    failed: failures.length,
    ...(failures.length === 0 ? {} : { failures: failures.toSorted((a, b) => a.index - b.index) }),
    ...(descendants === 0 ? {} : { descendantsDeleted: descendants }),
    trash: answers.map(({ id, trashId, restorableUntil }) => ({ itemId: id, trashId, restorableUntil })),
    ...(freed.length === 0 ? {} : { freedItems: freed }),
    ...(cascadeEvents.length === 0 ? {} : { cascadeEvents }),
    ...(done.some((one) => one.replayed) ? { replayed: true } : {}),
  };
  return output;
}

/** A child that is named beside its parent goes first, so that both are deleted as asked. */
async function deepestFirst(deps: EngineDeps, ids: readonly string[]): Promise<string[]> {
  const known = await orderByDepth(deps.db, ids);
  const absent = ids.filter((id) => !known.includes(id));
  return [...new Set([...known, ...absent])];
}

async function deleteRoot(
  deps: EngineDeps,
  call: WriteCall,
  id: string,
  recursive: boolean,
  index: number,
): Promise<Answered<DeletedRoot>> {
  const dead = await lookForDead(deps, await findSubtree(deps.db, id));
  const scope: GraphScope = new Set();
  let world: World | null = null;
  const result = await transact(deps, async (tx, wider) => {
    world = null;
    return await once(call, tx, `d${index}`, async () => {
      const deletion = await lockSubtree(deps, call, tx, wider, id, scope);
      refuseChildren(deletion, recursive);
      await passDoors(deps, tx, call, deletion, dead);
      const detached = await detach(tx, call, deletion);
      const answer = await discard(tx, call, deletion, detached, deps.settings.retention.trashDays);
      world = deletion.world;
      return { answer, targetId: null };
    });
  });
  if (world !== null) afterCommit(deps, world);
  return result;
}

interface Deletion {
  readonly world: World;
  readonly id: string;
  readonly subtree: readonly string[];
}

async function lockSubtree(
  deps: EngineDeps,
  call: WriteCall,
  tx: Handle,
  wider: Wider,
  id: string,
  scope: GraphScope,
): Promise<Deletion> {
  await lockGraphsOf(tx, scope, [id]);
  const subtree = await findSubtree(tx, id);
  if (subtree.length === 0) throw fault("RESOURCE_NOT_FOUND", `there is no item ${id}`);
  const containers = await findContainersHeldUp(tx, subtree);
  const subtrees = [...new Set([...wider.subtrees, ...containers])];
  const tenures = await withTenuresAbove(tx, call, [id]);
  const world = await lockWorld(deps, tx, subtree, {
    ...wider,
    items: [...wider.items, ...tenures],
    subtrees,
  });
  return { world, id, subtree };
}

function refuseChildren({ id, subtree }: Deletion, recursive: boolean): void {
  const below = subtree.length - 1;
  if (below === 0 || recursive) return;
  throw fault("has_children", `${id} has ${below} ${below === 1 ? "descendant" : "descendants"}`, {
    details: { descendants: below },
  });
}

/** Ends the caller's own claims and the lapsed ones; anybody else's claim is in the way. */
async function passDoors(
  deps: EngineDeps,
  tx: Handle,
  call: WriteCall,
  { world, subtree }: Deletion,
  dead: DeadFences,
): Promise<void> {
  const asked = subtree.map((itemId) => ({ itemId, fence: null }));
  const verdicts = await askDoors(deps, tx, world, call, "holder", asked, dead);
  for (const [index, itemId] of subtree.entries()) {
    const verdict = verdicts[index];
    if (verdict?.kind === "claim_lost") throw claimLost(itemId);
    if (verdict?.kind !== "not_holder") continue;
    throw fault("item_held", `${itemId} is claimed, and this call does not come from the claim's holder`, {
      retryAfterMs: verdict.msLeft,
      details: { contendedItemId: itemId },
      ...(verdict.sameAgent
        ? { hint: "A claim of your own name holds it: pass the workerId of that claim, or release it first." }
        : {}),
    });
  }
  for (const [index, itemId] of subtree.entries()) {
    if (world.get(itemId).claim === null) continue;
    const reason = verdicts[index]?.kind === "free_first" ? "expired" : "released";
    endTenure(world, itemId, { reason, requeue: true, detail: "deleted", by: call.author });
  }
  for (const itemId of subtree) letGo(world, itemId, call.agent);
}

interface Detached {
  readonly freed: readonly string[];
  readonly cascades: readonly CascadeEvent[];
}

/** Takes the subtree out of the books of those around it. Answers whom that frees and which parents it closes. */
async function detach(tx: Handle, call: WriteCall, { world, id, subtree }: Deletion): Promise<Detached> {
  const inside = new Set(subtree);
  const freed: string[] = [];
  const cascades: CascadeEvent[] = [];
  for (const item of subtree) {
    for (const edge of world.edgesFrom(item)) {
      if (inside.has(edge.to) || isSatisfied(edge, world.get(item))) continue;
      const dependent = addBlockers(world, edge.to, -1, edge.toHasChildren);
      if (dependent.blockers === 0 && dependent.role !== "terminal") freed.push(dependent.id);
    }
  }
  const item = world.get(id);
  if (item.parentId !== null) {
    leaveParent(world, item.parentId, item);
    if (item.role !== "terminal" && (await hasOtherChildren(tx, item.parentId, id))) {
      const closed = closeEmptied(world, item.parentId, call.author, holderOf(call));
      freed.push(...closed.unblocked.map((one) => one.itemId));
      cascades.push(...closed.events);
    }
  }
  // One for each: whoever follows a part of what went has to hear of it, and by then nothing says where it was.
  for (const one of subtree) {
    const descendants = one === id ? { descendants: subtree.length - 1 } : {};
    world.events.push({
      type: "item.deleted",
      itemId: one,
      rootId: item.rootId,
      data: { ...descendants, ancestors: world.get(one).ancestors },
    });
  }
  return { freed: freed.filter((one) => !inside.has(one) && world.get(one).role !== "terminal"), cascades };
}

/** Stores what was decided, copies what is about to go, and lets it go. */
async function discard(
  tx: Handle,
  call: WriteCall,
  { world, id, subtree }: Deletion,
  { freed, cascades }: Detached,
  days: number,
): Promise<DeletedRoot> {
  await saveWorld(tx, world);
  const trashId = randomUUID();
  const until = await keepInTrash(tx, {
    trashId,
    itemId: id,
    subtree,
    by: call.author,
    days,
  });
  const { rootId } = world.get(id);
  const data = { trashId, descendants: subtree.length - 1 };
  await recordAudit(tx, [{ action: "item.deleted", itemId: id, rootId, data }], call.author);
  await deleteRows(tx, subtree);
  const titles = await findTitles(tx, freed);
  return {
    id,
    trashId,
    restorableUntil: until.toISOString(),
    descendants: subtree.length - 1,
    freed: freed.map((itemId) => ({ itemId, title: titles.get(itemId) ?? "" })),
    cascadeEvents: await nameCascades(tx, cascades),
  };
}
