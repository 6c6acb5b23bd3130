/** `list_dead`: items whose attempts are used up. */
import { type DeadRow, listDeadItems } from "../../../db/stores/dead-read-store.ts";
import type { DeadItem, ListDeadInput, ListDeadOutput } from "../../contract/operations/list-dead.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { requireItem } from "../resolve-items.ts";
import { scopeFilter } from "../scope/scope-filter.ts";
import { inSnapshot } from "./snapshot.ts";

export async function listDead(
  deps: EngineDeps,
  { type, tags, ancestorId, limit, offset }: ListDeadInput,
  caller: Caller,
): Promise<ListDeadOutput> {
  return await inSnapshot(deps, async (handle) => {
    const within = ancestorId === undefined ? undefined : await requireItem(handle, ancestorId, caller);
    const filter = { type, tags, ancestorId: within, ...scopeFilter(caller) };
    const { rows, total } = await listDeadItems(handle, filter, { limit, offset });
    return { items: rows.map(deadItem), total, hasMore: offset + rows.length < total, limit, offset };
  });
}

function deadItem(row: DeadRow): DeadItem {
  return {
    itemId: row.item_id,
    rootId: row.root_id,
    title: row.title,
    ...(row.type === null ? {} : { type: row.type }),
    ...(row.status_label === null ? {} : { statusLabel: row.status_label }),
    attempts: row.attempts,
    diedAt: row.role_changed_at.toISOString(),
    ...(row.end_reason === null ? {} : { lastEndReason: row.end_reason }),
    ...(row.detail === null ? {} : { lastDetail: row.detail }),
  };
}
