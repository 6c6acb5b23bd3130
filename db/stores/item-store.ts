/** Look-ups of items that many use cases share. */
import { type Handle, statement } from "../statement.ts";

const titles = statement<{ id: string; title: string }>(
  "items_titles",
  `select id, title from items where id = any($1::uuid[])`,
);

export async function findTitles(handle: Handle, ids: Iterable<string>): Promise<Map<string, string>> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return new Map();
  const rows = await titles(handle, [wanted]);
  return new Map(rows.map((row) => [row.id, row.title]));
}

// Compared as text with the dashes taken out, which is what the index holds.
const byPrefix = statement<{ id: string; title: string }>(
  "items_by_prefix",
  `select id, title from items where replace(id::text, '-', '') like $1 || '%' order by id limit 11`,
);

/** Up to eleven items whose id starts with these hex digits; one more than is ever shown. */
export async function findByPrefix(handle: Handle, prefix: string): Promise<{ id: string; title: string }[]> {
  return await byPrefix(handle, [prefix]);
}

const openBlockers = statement<{
  to_item: string;
  from_item: string;
  title: string;
  role: string;
  outcome: string | null;
  unblock_at: string | null;
  on_cancelled: string | null;
}>(
  "items_blockers",
  // So many of each item, and not of all together: one item with many must not hide another's.
  `select d.to_item, d.from_item, i.title, s.role, s.outcome, d.unblock_at, d.on_cancelled
   from unnest($1::uuid[]) as wanted(id)
   cross join lateral (
     select d.* from dependencies d where d.to_item = wanted.id and d.type = 'BLOCKS'
     order by d.created_at, d.id limit 500
   ) d
   join item_state s on s.item_id = d.from_item
   join items i on i.id = d.from_item
   order by d.created_at, d.id`,
);

export type BlockerRow = Awaited<ReturnType<typeof openBlockers>>[number];

/** Every blocking edge into the items with its blocker's state, satisfied or not. */
export async function findBlockers(handle: Handle, ids: readonly string[]): Promise<BlockerRow[]> {
  return ids.length === 0 ? [] : await openBlockers(handle, [ids]);
}

const openChildren = statement<{ parent_id: string; item_id: string; title: string; role: string }>(
  "items_open_children",
  `select wanted.id as parent_id, c.item_id, c.title, c.role
   from unnest($1::uuid[]) as wanted(id)
   cross join lateral (
     select i.id as item_id, i.title, s.role from items i join item_state s on s.item_id = i.id
     where i.parent_id = wanted.id and s.role <> 'terminal'
     order by i.created_at, i.id limit $2
   ) c`,
);

export type OpenChildRow = Awaited<ReturnType<typeof openChildren>>[number];

/** The oldest open children of each of the items. */
export async function findOpenChildren(
  handle: Handle,
  ids: readonly string[],
  max: number,
): Promise<OpenChildRow[]> {
  return ids.length === 0 ? [] : await openChildren(handle, [ids, max]);
}
