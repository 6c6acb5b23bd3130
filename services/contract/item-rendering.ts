/** Items as text. */
import type { FullItem, ListItemsOutput } from "./operations/query-items.ts";
import { bounded, facts, itemLine, oneLine } from "./rendering.ts";

/** A page of items, one a line. */
export function renderList(result: ListItemsOutput): string {
  const { total, returned, hasMore } = result;
  return bounded([
    `${returned} of ${total} items${hasMore ? `; next page: offset ${result.offset + returned}` : ""}`,
    ...result.items.map(
      (item) => `${itemLine(item)}${item.isClaimed ? " (claimed)" : ""}${item.dead ? " (dead)" : ""}`,
    ),
  ]);
}

/** One item with all that it says, within bounds. */
export function renderItem(result: FullItem): string {
  return bounded([
    itemLine(result),
    facts({
      version: result.version,
      type: result.type,
      parentId: result.parentId,
      assignee: result.assignee,
      needs: result.needs,
      statusLabel: result.statusLabel,
      isClaimed: result.isClaimed,
      attempts: result.attempts,
      dead: result.dead,
      availableAt: result.availableAt,
      dueAt: result.dueAt,
    }),
    result.summary ? `Summary: ${oneLine(result.summary, 1_000)}` : "",
    result.description ? `Description: ${oneLine(result.description, 4_000)}` : "",
    result.ancestors?.length
      ? `Path: ${result.ancestors.map((one) => `${one.id} ${oneLine(one.title, 60)}`).join(" > ")}`
      : "",
  ]);
}
