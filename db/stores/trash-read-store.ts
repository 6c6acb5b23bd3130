/** What was deleted and can be brought back. */
import { trashVisible } from "./scope-store.ts";
import { type Handle, statement } from "../statement.ts";

export interface TrashListRow {
  id: string;
  item_id: string;
  root_id: string;
  title: string;
  items_count: number;
  deleted_at: Date;
  deleted_by: string | null;
  expires_at: Date;
  restored_at: Date | null;
  total: number;
}

const listing = (more: string): string =>
  `select t.id, t.item_id, t.root_id, t.title, t.items_count, t.deleted_at, t.deleted_by, t.expires_at, t.restored_at,
     (count(*) over ())::int as total
   from trash t
   where t.expires_at > muster_now() and ($1::uuid is null or t.root_id = $1) and ($2 or t.restored_at is null)${more}
   order by t.deleted_at desc, t.id limit $3 offset $4`;

const list = statement<TrashListRow>("trash_list", listing(""));
const listWithin = statement<TrashListRow>("trash_list_within", listing(` and ${trashVisible("t", "$5")}`));

export interface TrashQuery {
  readonly rootId: string | null;
  /** Also what was brought back already. */
  readonly restored: boolean;
  /** What the caller sees; null: everything. */
  readonly scope: readonly string[] | null;
  readonly limit: number;
  readonly offset: number;
}

/** A page, the latest deletes at its head. Each row carries how many there are in all. */
export async function listTrashed(handle: Handle, query: TrashQuery): Promise<TrashListRow[]> {
  const { rootId, restored, limit, offset, scope } = query;
  return scope === null
    ? await list(handle, [rootId, restored, limit, offset])
    : await listWithin(handle, [rootId, restored, limit, offset, scope]);
}
