/**
 * Which items could not have what they need in work right now: the decision that a start
 * takes, over leases that are only looked at. For reads; where nothing is declared there is
 * no statement.
 */
import { peekLeases } from "../../../db/stores/lease-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { judgeLeases, type LeaseObstacle } from "../../core/leases/hold-leases.ts";
import { keysAhead } from "../../core/leases/keys-ahead.ts";
import type { LeaseBook } from "../../core/leases/lease-book.ts";
import { DEFAULT_POLICY, type ItemState } from "../../core/state.ts";
import { World } from "../../core/world.ts";
import type { EngineDeps } from "../deps.ts";
import { declaredBySchemas } from "./declared-by.ts";

/** By item; those that nothing stands against are left out. */
export async function contendedItems(
  deps: EngineDeps,
  handle: Handle,
  items: readonly ItemState[],
  now: number,
): Promise<ReadonlyMap<string, LeaseObstacle>> {
  const leases = await lookAtLeases(deps, handle, items, []);
  const world = new World({
    now,
    states: items,
    edges: [],
    subtrees: [],
    policyOf: () => DEFAULT_POLICY,
    leases,
  });
  return new Map(
    items.flatMap((item) => {
      const obstacle = item.role === "terminal" ? null : judgeLeases(world, item);
      return obstacle === null ? [] : [[item.id, obstacle]];
    }),
  );
}

/** The book that a decision over these items would open, without its locks. @param known keys that it turned out to need */
export async function lookAtLeases(
  deps: EngineDeps,
  handle: Handle,
  items: readonly ItemState[],
  known: Iterable<string>,
): Promise<LeaseBook> {
  const declaredBy = await declaredBySchemas(deps, handle, items);
  const all = new Set(items.map(({ id }) => id));
  return await peekLeases(handle, [...keysAhead(items, all, true, declaredBy), ...known], declaredBy);
}
