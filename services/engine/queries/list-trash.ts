/** `list_trash`: what was deleted and can still be brought back. */
import { listTrashed, type TrashListRow } from "../../../db/stores/trash-read-store.ts";
import type {
  ListTrashInput,
  ListTrashOutput,
  TrashListEntry,
} from "../../contract/operations/list-trash.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { isTopOf } from "../scope/scope-filter.ts";

export async function listTrash(
  deps: EngineDeps,
  { rootId, restored, limit, offset }: ListTrashInput,
  caller: Caller,
): Promise<ListTrashOutput> {
  // To whoever sees a part, its top is the root of what lay below it.
  const top = rootId !== undefined && isTopOf(caller, rootId) ? rootId : undefined;
  const rows = await listTrashed(deps.db, {
    rootId: top === undefined ? (rootId ?? null) : null,
    restored,
    scope: top === undefined ? caller.access.scope : [top],
    limit,
    offset,
  });
  const total = rows[0]?.total ?? offset;
  return { entries: rows.map(listed), total, hasMore: offset + rows.length < total, limit, offset };
}

function listed(row: TrashListRow): TrashListEntry {
  return {
    trashId: row.id,
    itemId: row.item_id,
    rootId: row.root_id,
    title: row.title,
    items: row.items_count,
    deletedAt: row.deleted_at.toISOString(),
    ...(row.deleted_by === null ? {} : { deletedBy: row.deleted_by }),
    restorableUntil: row.expires_at.toISOString(),
    ...(row.restored_at === null ? {} : { restoredAt: row.restored_at.toISOString() }),
  };
}
