/**
 * Locks the resources that a decision will ask for, as far as the rows tell, and reads what
 * is known of them. Where nothing is declared and nothing is held there is no statement.
 */
import { openLeases } from "../../../db/stores/lease-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { keysAhead } from "../../core/leases/keys-ahead.ts";
import type { Declared, LeaseBook } from "../../core/leases/lease-book.ts";
import type { ItemState } from "../../core/state.ts";

/** What is known beforehand of a decision: which items may change their role, and whether to work. */
export interface Moving {
  /** Null: everything that is locked by name. */
  readonly items: ReadonlySet<string> | null;
  readonly enters: boolean;
}

/** Of use cases that move an item now and then: they start over if one has a lease. */
export const NOTHING_MOVES: Moving = { items: new Set(), enters: false };

/** @param known what an earlier try turned out to need */
export async function leasesAhead(
  tx: Handle,
  states: readonly ItemState[],
  moving: Moving,
  known: readonly string[],
  declaredBy: (item: ItemState) => Declared,
): Promise<LeaseBook> {
  const items = moving.items ?? new Set(states.map(({ id }) => id));
  return await openLeases(tx, [...keysAhead(states, items, moving.enters, declaredBy), ...known], declaredBy);
}
