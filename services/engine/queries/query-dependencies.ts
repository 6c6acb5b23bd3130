/** `query_dependencies`: the edges of an item, and the graph around it in a bounded number of statements. */
import {
  countEdges,
  listEdges,
  reachThrough,
  type ShownEdgeRow,
} from "../../../db/stores/dependency-read-store.ts";
import { type DependencyRow, findDependenciesAmong } from "../../../db/stores/dependency-store.ts";
import { findTitles } from "../../../db/stores/item-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault } from "../../contract/errors.ts";
import { GRAPH_ITEMS_MAX } from "../../contract/limits.ts";
import type {
  Backlinks,
  DependencyEdge,
  DependencyEdges,
  QueryDependenciesInput,
  QueryDependenciesOutput,
} from "../../contract/operations/query-dependencies.ts";
import { orderChain } from "../../core/dependency-chain.ts";
import { isSatisfied } from "../../core/edges.ts";
import type { EngineDeps } from "../deps.ts";
import type { Looker } from "../access.ts";
import type { Caller } from "../engine.ts";
import { requireItem } from "../resolve-items.ts";
import { fitPage } from "./fit-page.ts";
import { inSnapshot } from "./snapshot.ts";

/** Room for the edges when a chain of a thousand ids is beside them. */
const EDGES_SIZE_MAX_BYTES = 28_000;

export async function queryDependencies(
  deps: EngineDeps,
  input: QueryDependenciesInput,
  caller: Caller,
): Promise<QueryDependenciesOutput> {
  return await inSnapshot(deps, async (handle) => {
    const itemId = await requireItem(handle, input.itemId, caller);
    // A whole id is taken at its word until here; without edges nothing else would tell that it is gone.
    if (!(await findTitles(handle, [itemId])).has(itemId))
      throw fault("RESOURCE_NOT_FOUND", `there is no item ${itemId}`);
    return input.operation === "get"
      ? await edgesOf(deps, handle, itemId, input, caller)
      : await backlinksOf(handle, itemId, input, caller);
  });
}

async function edgesOf(
  deps: EngineDeps,
  handle: Handle,
  itemId: string,
  input: QueryDependenciesInput,
  { access: { scope } }: Looker,
): Promise<DependencyEdges> {
  const sides = sidesOf(input);
  const { limit, offset } = input;
  const { rows, total } = await listEdges(handle, { itemId, ...sides, scope, limit, offset });
  const counts = await countEdges(handle, itemId, scope);
  const graph = input.neighborsOnly
    ? undefined
    : await graphAround(handle, itemId, sides, input.depth, scope);
  const dependencies = fitPage(
    rows.map((row) => shownEdge(row, input.includeItemInfo, deps.settings.onCancelled)),
    graph === undefined ? undefined : EDGES_SIZE_MAX_BYTES,
  );
  return {
    dependencies,
    counts: { incoming: counts.incoming, outgoing: counts.outgoing, relatesTo: counts.relates },
    ...(graph === undefined ? {} : { graph }),
    ...page(dependencies.length, total, input),
  };
}

type EdgeType = DependencyRow["type"];
type Sides = { readonly into: readonly EdgeType[]; readonly outOf: readonly EdgeType[] };

/** Edges are stored one way. What an item is blocked by are the edges into it, however they were drawn. */
function sidesOf({ direction, type }: QueryDependenciesInput): Sides {
  if (type === "IS_BLOCKED_BY")
    return direction === "incoming" ? { into: [], outOf: ["BLOCKS"] } : { into: ["BLOCKS"], outOf: [] };
  const types: readonly EdgeType[] = type === undefined ? ["BLOCKS", "RELATES_TO"] : [type];
  return { into: direction === "outgoing" ? [] : types, outOf: direction === "incoming" ? [] : types };
}

function shownEdge(row: ShownEdgeRow, info: boolean, onCancelled: "hold" | "release"): DependencyEdge {
  const threshold = row.unblock_at ?? "terminal";
  const blocker = { role: row.from_role, outcome: row.from_outcome };
  return {
    id: row.id,
    fromItemId: row.from_item,
    toItemId: row.to_item,
    type: row.type,
    ...(row.unblock_at === null ? {} : { unblockAt: row.unblock_at }),
    ...(row.on_cancelled === null ? {} : { onCancelled: row.on_cancelled }),
    ...(row.type === "BLOCKS"
      ? {
          effectiveUnblockRole: threshold,
          satisfied: isSatisfied({ threshold, onCancelled: row.on_cancelled ?? onCancelled }, blocker),
        }
      : {}),
    ...(info
      ? {
          fromItem: { title: row.from_title, role: row.from_role, priority: row.from_priority },
          toItem: { title: row.to_title, role: row.to_role, priority: row.to_priority },
        }
      : {}),
  };
}

/** Two walks and one look at the edges among what they met, however large the graph is. Relations order nothing. */
async function graphAround(
  handle: Handle,
  itemId: string,
  { into, outOf }: Sides,
  reach: number | undefined,
  scope: readonly string[] | null,
): Promise<NonNullable<DependencyEdges["graph"]>> {
  const before = into.includes("BLOCKS")
    ? await reachThrough(handle, "incoming", itemId, GRAPH_ITEMS_MAX + 1, scope)
    : [itemId];
  const after = outOf.includes("BLOCKS")
    ? await reachThrough(handle, "outgoing", itemId, GRAPH_ITEMS_MAX + 1, scope)
    : [itemId];
  const met = [...new Set(nearestFirst(before, after))];
  const kept = met.slice(0, GRAPH_ITEMS_MAX);
  const edges = await findDependenciesAmong(handle, kept);
  const blocking = edges.filter((edge) => edge.type === "BLOCKS");
  const { order, depth } = orderChain(
    itemId,
    blocking.map((edge) => ({ from: edge.from_item, to: edge.to_item })),
    reach,
  );
  return { chain: [...order], depth, truncated: met.length > kept.length };
}

/** Both walks by turns, so that a cap leaves of each what is near. */
function nearestFirst(before: readonly string[], after: readonly string[]): string[] {
  return Array.from({ length: Math.max(before.length, after.length) }, (_, at) => [
    before[at],
    after[at],
  ]).flatMap((pair) => pair.filter((id) => id !== undefined));
}

/** A relation points both ways. */
function pointingHere(type: QueryDependenciesInput["type"]): Sides {
  switch (type) {
    case "BLOCKS":
      return { into: ["BLOCKS"], outOf: [] };
    case "IS_BLOCKED_BY":
      return { into: [], outOf: ["BLOCKS"] };
    case "RELATES_TO":
      return { into: ["RELATES_TO"], outOf: ["RELATES_TO"] };
    case undefined:
      return { into: ["BLOCKS", "RELATES_TO"], outOf: ["RELATES_TO"] };
  }
}

async function backlinksOf(
  handle: Handle,
  itemId: string,
  input: QueryDependenciesInput,
  { access: { scope } }: Looker,
): Promise<Backlinks> {
  const { type, limit, offset } = input;
  const sides = pointingHere(type);
  const { rows, total } = await listEdges(handle, { itemId, ...sides, scope, limit, offset });
  const backlinks = fitPage(
    rows.map((row) => {
      const outward = row.from_item === itemId;
      return {
        id: row.id,
        fromItemId: outward ? row.to_item : row.from_item,
        fromTitle: outward ? row.to_title : row.from_title,
        fromRole: outward ? row.to_role : row.from_role,
        type: type ?? row.type,
      };
    }),
  );
  return { backlinks, ...page(backlinks.length, total, input) };
}

function page(returned: number, total: number, { limit, offset }: QueryDependenciesInput) {
  return { total, returned, hasMore: offset + returned < total, limit, offset };
}
