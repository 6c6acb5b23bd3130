/** `list_transitions`: what moved when, and by whom. */
import { readItem } from "../../../db/stores/item-read-store.ts";
import { listTransitionRows, type TransitionRow } from "../../../db/stores/transition-read-store.ts";
import { fault } from "../../contract/errors.ts";
import type {
  ListedTransition,
  ListTransitionsInput,
  ListTransitionsOutput,
} from "../../contract/operations/list-transitions.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { attribution } from "../notes/note-answers.ts";
import { requireItem } from "../resolve-items.ts";
import { scopeFilter } from "../scope/scope-filter.ts";
import { inSnapshot } from "./snapshot.ts";

export async function listTransitions(
  deps: EngineDeps,
  input: ListTransitionsInput,
  caller: Caller,
): Promise<ListTransitionsOutput> {
  const { since, limit, offset } = input;
  return await inSnapshot(deps, async (handle) => {
    const itemId = input.itemId === undefined ? undefined : await requireItem(handle, input.itemId, caller);
    if (itemId !== undefined && (await readItem(handle, itemId)) === null)
      throw fault("RESOURCE_NOT_FOUND", `there is no item ${itemId}`);
    const { rows, total } = await listTransitionRows(handle, {
      itemId,
      since,
      limit,
      offset,
      ...scopeFilter(caller),
    });
    const transitions = rows.map(toListed);
    return { transitions, total, hasMore: offset + rows.length < total, limit, offset };
  });
}

function toListed(row: TransitionRow): ListedTransition {
  return {
    id: String(row.id),
    itemId: row.item_id,
    fromRole: row.from_role,
    toRole: row.to_role,
    trigger: row.trigger,
    ...(row.to_label === null ? {} : { statusLabel: row.to_label }),
    ...(row.summary === null ? {} : { summary: row.summary }),
    occurredAt: row.at.toISOString(),
    ...attribution(row),
    ...(row.consumed_credentials === null ? {} : { consumedCredentials: row.consumed_credentials }),
  };
}
