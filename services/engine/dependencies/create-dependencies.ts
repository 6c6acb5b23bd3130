/**
 * Drawing edges, all of a batch or none. Every edge that cannot be drawn is named, with
 * the items along the cycle if that is why.
 */
import {
  countDependencies,
  type DependencyRow,
  findDependenciesAmong,
  findDependenciesById,
  insertDependencies,
} from "../../../db/stores/dependency-store.ts";
import { findTitles } from "../../../db/stores/item-store.ts";
import type { Handle } from "../../../db/statement.ts";
import type { ElementFailure } from "../../contract/answers.ts";
import { fault } from "../../contract/errors.ts";
import { DEPENDENCIES_PER_ITEM_MAX } from "../../contract/limits.ts";
import type {
  CreateDependencies,
  CreateDependenciesOutput,
  NewDependency,
} from "../../contract/operations/manage-dependencies.ts";
import { isSatisfied } from "../../core/edges.ts";
import { addBlockers } from "../../core/move.ts";
import { type EdgeRefusal, judgeNewEdges } from "../../core/new-edges.ts";
import type { World } from "../../core/world.ts";
import type { EngineDeps } from "../deps.ts";
import { resolveItem } from "../resolve-items.ts";
import { askDoors, claimLost } from "../writing/doors.ts";
import { elementFailure } from "../writing/element-failure.ts";
import { afterCommit, saveWorld, transact, type Wider } from "../writing/transact.ts";
import { once, type WriteCall } from "../writing/write-call.ts";
import { edgeFault, edgeTitles } from "./edge-fault.ts";
import { toEdgeRow } from "./edge-row.ts";
import { endsOf, lockEnds } from "./lock-ends.ts";
import { type GraphScope, loadOrderGraph, lockGraphsOf } from "./order-graph.ts";
import type { Looker } from "../access.ts";

/** Takes everything back: nothing of a batch is drawn if one edge cannot be. */
class BatchRefused extends Error {
  readonly failures: readonly ElementFailure[];

  constructor(failures: readonly ElementFailure[]) {
    super("a dependency of the batch cannot be created");
    this.name = "BatchRefused";
    this.failures = failures;
  }
}

export async function createDependencies(
  deps: EngineDeps,
  call: WriteCall,
  input: CreateDependencies,
  caller: Looker,
): Promise<CreateDependenciesOutput> {
  try {
    const rows = await resolveEdges(deps, input.dependencies, caller);
    return await createAll(deps, call, rows);
  } catch (error) {
    if (!(error instanceof BatchRefused)) throw error;
    return { dependencies: [], created: 0, failed: error.failures.length, failures: [...error.failures] };
  }
}

/** Full ids, and one spelling. */
async function resolveEdges(
  deps: EngineDeps,
  edges: readonly NewDependency[],
  caller: Looker,
): Promise<DependencyRow[]> {
  const rows: DependencyRow[] = [];
  const failures: ElementFailure[] = [];
  const known = new Map<string, Awaited<ReturnType<typeof resolveItem>>>();
  const resolve = async (ref: string) => {
    const resolved = known.get(ref) ?? (await resolveItem(deps.db, ref, caller));
    known.set(ref, resolved);
    return resolved;
  };
  for (const [index, edge] of edges.entries()) {
    const from = await resolve(edge.fromItemId);
    const to = await resolve(edge.toItemId);
    if (!from.ok) failures.push(elementFailure(index, undefined, from.error));
    else if (!to.ok) failures.push(elementFailure(index, undefined, to.error));
    else rows.push(toEdgeRow(edge, from.id, to.id));
  }
  if (failures.length > 0) throw new BatchRefused(failures);
  return rows;
}

async function createAll(
  deps: EngineDeps,
  call: WriteCall,
  rows: readonly DependencyRow[],
): Promise<CreateDependenciesOutput> {
  const scope: GraphScope = new Set();
  let world: World | null = null;
  const result = await transact(deps, async (tx, wider) => {
    world = null;
    return await once(call, tx, "all", async () => {
      const drawn = await createIn(deps, call, tx, wider, rows, scope);
      world = drawn.world;
      return { answer: answerOf(drawn.rows), targetId: null };
    });
  });
  if (world !== null) afterCommit(deps, world);
  if (!result.replayed) return result.answer;
  await refuseIfGone(deps, result.answer);
  return { ...result.answer, replayed: true };
}

async function createIn(
  deps: EngineDeps,
  call: WriteCall,
  tx: Handle,
  wider: Wider,
  wanted: readonly DependencyRow[],
  scope: GraphScope,
): Promise<{ readonly world: World; readonly rows: readonly DependencyRow[] }> {
  const ends = endsOf(wanted);
  const blocking = wanted.filter((row) => row.type === "BLOCKS");
  await lockGraphsOf(tx, scope, ends);
  const order = await loadOrderGraph(
    tx,
    scope,
    blocking.map((row) => ({ id: row.to_item, side: "start" as const })),
  );
  const { world, containers } = await lockEnds(deps, tx, call, wider, wanted);
  await refuseStale(deps, call, tx, world, wanted);
  const rows = await settleOnCancelled(deps, tx, world, wanted);
  const drawn = await findDependenciesAmong(tx, ends);
  const verdicts = judgeNewEdges(
    rows.map((row) => ({ from: row.from_item, to: row.to_item, blocks: row.type === "BLOCKS" })),
    {
      exists: (id) => world.find(id) !== undefined,
      drawn: drawn.map((row) => ({ from: row.from_item, to: row.to_item, blocks: row.type === "BLOCKS" })),
      edgesOf: await countDependencies(tx, ends),
      edgesMax: DEPENDENCIES_PER_ITEM_MAX,
      order,
    },
  );
  await refuseBatch(tx, rows, verdicts);
  await insertDependencies(tx, rows, call.author);
  for (const row of blocking) countBlocker(deps, world, row, containers.has(row.to_item));
  for (const row of rows) {
    world.events.push({
      type: "dependency.added",
      itemId: row.to_item,
      rootId: world.get(row.to_item).rootId,
      data: { id: row.id, fromItemId: row.from_item, toItemId: row.to_item, type: row.type },
    });
  }
  await saveWorld(tx, world);
  return { world, rows };
}

/**
 * An edge that does not say what a cancelled blocker means gets what its dependent's project says
 * now, and keeps it: were it read later, a changed text would belie the counters of blockers.
 */
export async function settleOnCancelled(
  deps: EngineDeps,
  tx: Handle,
  world: World,
  rows: readonly DependencyRow[],
): Promise<readonly DependencyRow[]> {
  const open = rows.flatMap(({ type, on_cancelled: said, to_item: to }) =>
    type === "BLOCKS" && said === null ? (world.find(to) ?? []) : [],
  );
  if (open.length === 0) return rows;
  const schemas = await deps.schemas.load(tx, new Set(open.map((item) => item.rootId)));
  return rows.map((row) => {
    const dependent = world.find(row.to_item);
    if (row.type !== "BLOCKS" || row.on_cancelled !== null || dependent === undefined) return row;
    return { ...row, on_cancelled: schemas.of(dependent).onCancelled };
  });
}

/** An edge whose blocker has not come far enough holds its item up from now on. */
export function countBlocker(deps: EngineDeps, world: World, row: DependencyRow, hasChildren: boolean): void {
  const rule = {
    threshold: row.unblock_at ?? "terminal",
    onCancelled: row.on_cancelled ?? deps.settings.onCancelled,
  };
  if (!isSatisfied(rule, world.get(row.from_item))) addBlockers(world, row.to_item, 1, hasChildren);
}

/** A displaced holder may not rearrange what it has lost. */
async function refuseStale(
  deps: EngineDeps,
  call: WriteCall,
  tx: Handle,
  world: World,
  rows: readonly DependencyRow[],
): Promise<void> {
  const ends = [...new Set(rows.flatMap((row) => [row.from_item, row.to_item]))].filter((id) =>
    world.find(id),
  );
  const asked = ends.map((itemId) => ({ itemId, fence: null }));
  const verdicts = await askDoors(deps, tx, world, call, "open", asked);
  const lost = new Set(ends.filter((_, index) => verdicts[index]?.kind === "claim_lost"));
  if (lost.size === 0) return;
  throw new BatchRefused(
    rows.flatMap((row, index) => {
      const id = [row.from_item, row.to_item].find((end) => lost.has(end));
      return id === undefined ? [] : [elementFailure(index, id, claimLost(id))];
    }),
  );
}

async function refuseBatch(
  tx: Handle,
  rows: readonly DependencyRow[],
  verdicts: readonly (EdgeRefusal | null)[],
): Promise<void> {
  const refused = rows.flatMap((row, index) => {
    const refusal = verdicts[index] ?? null;
    return refusal === null ? [] : [{ index, row, refusal }];
  });
  if (refused.length === 0) return;
  const titles = await findTitles(tx, edgeTitles(refused));
  throw new BatchRefused(
    refused.map(({ index, row, refusal }) =>
      elementFailure(index, undefined, edgeFault(row, refusal, titles)),
    ),
  );
}

function answerOf(rows: readonly DependencyRow[]): CreateDependenciesOutput {
  return {
    dependencies: rows.map((row) => ({
      id: row.id,
      fromItemId: row.from_item,
      toItemId: row.to_item,
      type: row.type,
      ...(row.unblock_at === null ? {} : { unblockAt: row.unblock_at }),
      ...(row.on_cancelled === null ? {} : { onCancelled: row.on_cancelled }),
    })),
    created: rows.length,
    failed: 0,
  };
}

async function refuseIfGone(deps: EngineDeps, answer: CreateDependenciesOutput): Promise<void> {
  const ids = answer.dependencies.map((one) => one.id);
  const alive = new Set((await findDependenciesById(deps.db, ids)).map((row) => row.id));
  const gone = ids.find((id) => !alive.has(id));
  if (gone === undefined) return;
  throw fault("idempotency_target_gone", `a dependency that this requestId made, ${gone}, was deleted since`);
}
