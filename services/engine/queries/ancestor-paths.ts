/** The way from the root down to an item, for lists that show where things are. */
import { findTitles } from "../../../db/stores/item-store.ts";
import type { Handle } from "../../../db/statement.ts";

export interface AncestorStep {
  readonly id: string;
  readonly title: string;
  readonly depth: number;
}

/** One statement for a whole page. Answers a function from an item's ancestors to its path, root first. */
export async function readPaths(
  handle: Handle,
  pages: Iterable<readonly string[]>,
): Promise<(ancestors: readonly string[]) => AncestorStep[]> {
  const titles = await findTitles(handle, [...pages].flat());
  return (ancestors) => ancestors.map((id, depth) => ({ id, title: titles.get(id) ?? "", depth }));
}
