/**
 * The graph that a check for cycles looks at, locked. A cycle can run through trees that
 * the call does not name, and two calls that each close half of it must not both pass:
 * so every root that the check reaches is locked exclusively, and the check looks again
 * once they are. Whoever would complete the cycle must lock one of the same roots.
 */
import { type ReachedGraph, type Seed, loadReachedGraph } from "../../../db/stores/dependency-graph.ts";
import { findRoots, lockGraph } from "../../../db/stores/graph-lock.ts";
import type { Handle } from "../../../db/statement.ts";
import { StartOver } from "../../../db/transaction.ts";
import { fault } from "../../contract/errors.ts";

/** More than this and the check would hold its locks for too long. */
const REACHED_ITEMS_MAX = 10_000;

/** Roots that the tries of one call have met so far; made outside of the transaction. */
export type GraphScope = Set<string>;

/** Locks the graphs that the items belong to, and answers each item's root. Those that do not exist are left out. */
export async function lockGraphsOf(
  tx: Handle,
  scope: GraphScope,
  items: readonly string[],
): Promise<Map<string, string>> {
  for (const root of (await findRoots(tx, items)).values()) scope.add(root);
  await lockGraph(tx, scope, "exclusive");
  // Only now do the roots stand still; one that changed meanwhile was not locked.
  const roots = await findRoots(tx, items);
  widen(scope, roots.values());
  return roots;
}

/** What can be reached from the seeds. Graphs must be locked; more of them are if it turns out that they are needed. */
export async function loadOrderGraph(
  tx: Handle,
  scope: GraphScope,
  seeds: readonly Seed[],
): Promise<ReachedGraph> {
  const graph = await loadReachedGraph(tx, seeds, REACHED_ITEMS_MAX);
  if (graph === null) {
    throw fault(
      "limit_exceeded",
      `more than ${REACHED_ITEMS_MAX} items would have to be checked for cycles; connect smaller items`,
    );
  }
  widen(scope, graph.roots);
  return graph;
}

function widen(scope: GraphScope, roots: Iterable<string>): void {
  const missing = [...roots].filter((root) => !scope.has(root));
  if (missing.length === 0) return;
  for (const root of missing) scope.add(root);
  throw new StartOver("the check for cycles reached another root");
}
