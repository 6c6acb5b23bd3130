/**
 * Which resources a decision will ask for, as far as that can be told from the rows: locking
 * them at once spares it from starting over. What is left out here is asked for when it is
 * reached.
 */
import type { ItemState } from "../state.ts";
import type { Declared } from "./lease-book.ts";

/**
 * @param moving items that may change their role; those above them follow
 * @param enters whether they may enter work, or only leave it
 */
export function keysAhead(
  states: readonly ItemState[],
  moving: ReadonlySet<string>,
  enters: boolean,
  declaredBy: (item: ItemState) => Declared,
): Set<string> {
  const keys = new Set<string>();
  const above = new Set(states.filter(({ id }) => moving.has(id)).flatMap(({ ancestors }) => ancestors));
  for (const state of states) {
    const moves = moving.has(state.id);
    if (!moves && !above.has(state.id)) continue;
    for (const key of state.leased) keys.add(key);
    const mayEnter = moves ? state.role !== "terminal" : state.role === "queue" || state.role === "terminal";
    if (enters && mayEnter) for (const { key } of declaredBy(state).requirements) keys.add(key);
  }
  return keys;
}
