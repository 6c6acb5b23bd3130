/** Removing edges: by id, by both ends, or all of one side. Answers which items that frees. */
import { recordAudit } from "../../../db/stores/audit-store.ts";
import {
  deleteDependencies as deleteRows,
  type DependencyRow,
  findDependenciesByEnds,
  findDependenciesById,
  type Ends,
} from "../../../db/stores/dependency-store.ts";
import { findTitles } from "../../../db/stores/item-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { StartOver } from "../../../db/transaction.ts";
import { fault } from "../../contract/errors.ts";
import type {
  DeleteDependencies,
  DeleteDependenciesOutput,
} from "../../contract/operations/manage-dependencies.ts";
import { isSatisfied } from "../../core/edges.ts";
import { addBlockers } from "../../core/move.ts";
import type { World } from "../../core/world.ts";
import type { EngineDeps } from "../deps.ts";
import { requireItem } from "../resolve-items.ts";
import { askDoors, claimLost } from "../writing/doors.ts";
import { afterCommit, saveWorld, transact, type Wider } from "../writing/transact.ts";
import { once, type WriteCall } from "../writing/write-call.ts";
import { endsOf, lockEnds } from "./lock-ends.ts";
import { type GraphScope, lockGraphsOf } from "./order-graph.ts";
import { lookAt } from "../scope/sight.ts";
import type { Looker } from "../access.ts";

/** Finds the edges that the call names; asked once to know what to lock, and again under the locks. */
type Finder = (handle: Handle) => Promise<DependencyRow[]>;

export async function deleteDependencies(
  deps: EngineDeps,
  call: WriteCall,
  input: DeleteDependencies,
  caller: Looker,
): Promise<DeleteDependenciesOutput> {
  const { find, named } = await finderOf(deps, input, caller);
  const scope: GraphScope = new Set();
  let world: World | null = null;
  const result = await transact(deps, async (tx, wider) => {
    world = null;
    return await once(call, tx, "all", async () => {
      const done = await deleteIn(deps, call, tx, wider, find, scope);
      world = done.world;
      if (done.answer.deleted === 0 && !input.deleteAll) {
        throw fault("RESOURCE_NOT_FOUND", "there is no such dependency", {
          hint: "Look the edges up with query_items or get_blocked_items; nothing was deleted.",
        });
      }
      return { answer: { ...named, ...done.answer }, targetId: null };
    });
  });
  if (world !== null) afterCommit(deps, world);
  return result.replayed ? { ...result.answer, replayed: true } : result.answer;
}

/** The call's ids in full, for its answer. */
type Named = Pick<DeleteDependenciesOutput, "fromItemId" | "toItemId" | "itemId">;

async function finderOf(
  deps: EngineDeps,
  input: DeleteDependencies,
  caller: Looker,
): Promise<{ find: Finder; named: Named }> {
  const { dependencyId } = input;
  if (dependencyId !== undefined)
    return {
      find: (handle) => seenOnly(handle, findDependenciesById(handle, [dependencyId]), caller),
      named: {},
    };
  const from = input.fromItemId === undefined ? null : await requireItem(deps.db, input.fromItemId, caller);
  const to = input.toItemId === undefined ? null : await requireItem(deps.db, input.toItemId, caller);
  const swapped = input.type === "IS_BLOCKED_BY";
  const ends: Ends = {
    from: swapped ? to : from,
    to: swapped ? from : to,
    type: input.type === undefined ? null : input.type === "RELATES_TO" ? "RELATES_TO" : "BLOCKS",
  };
  return {
    find: (handle) => seenOnly(handle, findDependenciesByEnds(handle, ends), caller),
    named: nameEnds(from, to),
  };
}

/** "All of them" are all that the caller sees: an edge to something else is none of theirs. */
async function seenOnly(
  handle: Handle,
  found: Promise<DependencyRow[]>,
  { access: { scope } }: Looker,
): Promise<DependencyRow[]> {
  const rows = await found;
  if (scope === null) return rows;
  const sight = await lookAt(
    handle,
    rows.map((row) => row.id),
    scope,
  );
  return rows.filter((row) => !sight.isHidden(row.id));
}

function nameEnds(from: string | null, to: string | null): Named {
  if (from !== null && to !== null) return { fromItemId: from, toItemId: to };
  const itemId = from ?? to;
  return itemId === null ? {} : { itemId };
}

async function deleteIn(
  deps: EngineDeps,
  call: WriteCall,
  tx: Handle,
  wider: Wider,
  find: Finder,
  scope: GraphScope,
): Promise<{ answer: DeleteDependenciesOutput; world: World }> {
  await lockGraphsOf(tx, scope, endsOf(await find(tx)));
  const rows = await find(tx);
  const ends = endsOf(rows);
  const { world, blocking, containers } = await lockEnds(deps, tx, call, wider, rows);
  if (ends.some((id) => !scope.has(world.get(id).rootId)))
    throw new StartOver("an edge came from another root");
  const asked = ends.map((itemId) => ({ itemId, fence: null }));
  const verdicts = await askDoors(deps, tx, world, call, "open", asked);
  const lost = ends.find((_, index) => verdicts[index]?.kind === "claim_lost");
  if (lost !== undefined) throw claimLost(lost);
  await deleteRows(
    tx,
    rows.map((row) => row.id),
  );
  const freed = blocking.flatMap((row) => uncount(deps, world, row, containers.has(row.to_item)));
  const written = rows.map((row) => ({
    itemId: row.to_item,
    rootId: world.get(row.to_item).rootId,
    data: { id: row.id, fromItemId: row.from_item, toItemId: row.to_item, type: row.type },
  }));
  for (const one of written) world.events.push({ type: "dependency.removed", ...one });
  await saveWorld(tx, world);
  await recordAudit(
    tx,
    written.map((one) => ({ action: "dependency.deleted" as const, ...one })),
    call.author,
  );
  return { answer: await toAnswer(tx, rows.length, freed), world };
}

/** Answers the dependent if this was the last edge that held it up. */
function uncount(deps: EngineDeps, world: World, row: DependencyRow, hasChildren: boolean): string[] {
  const rule = {
    threshold: row.unblock_at ?? "terminal",
    onCancelled: row.on_cancelled ?? deps.settings.onCancelled,
  };
  if (isSatisfied(rule, world.get(row.from_item))) return [];
  const dependent = addBlockers(world, row.to_item, -1, hasChildren);
  return dependent.blockers === 0 && dependent.role !== "terminal" ? [dependent.id] : [];
}

async function toAnswer(
  tx: Handle,
  deleted: number,
  freed: readonly string[],
): Promise<DeleteDependenciesOutput> {
  if (freed.length === 0) return { deleted };
  const titles = await findTitles(tx, freed);
  return { deleted, freedItems: freed.map((itemId) => ({ itemId, title: titles.get(itemId) ?? "" })) };
}
