/** Hanging new leaves into trees: many may do that at once, while nobody changes the shape of what is there. */
import { findRoots, lockGraph } from "../../../db/stores/graph-lock.ts";
import type { Handle } from "../../../db/statement.ts";
import { StartOver } from "../../../db/transaction.ts";

/** A tree that is being moved or deleted is waited for. */
export async function shareGraphs(tx: Handle, items: readonly string[]): Promise<void> {
  const before = await findRoots(tx, items);
  await lockGraph(tx, before.values(), "shared");
  const after = await findRoots(tx, items);
  const locked = new Set(before.values());
  if ([...after.values()].some((root) => !locked.has(root)))
    throw new StartOver("an item moved to another root");
}
