/** What a caller that sees only some subtrees may know of. */
import { type Handle, statement } from "../statement.ts";

/**
 * Condition on a delete `t`: what it removed lies in the scope. It lies where it would come back
 * to, below its parent as that one lies now; without a parent, where it was.
 */
export function trashVisible(t: string, scope = "$2"): string {
  return `(${t}.item_id = any(${scope}::uuid[]) or coalesce(
    (select p.id = any(${scope}::uuid[]) or p.ancestors && ${scope}::uuid[] from items p
     where p.id = (${t}.snapshot #>> '{items,0,parent_id}')::uuid),
    exists (select 1 from jsonb_array_elements_text(${t}.snapshot #> '{items,0,ancestors}') a
     where a::uuid = any(${scope}::uuid[]))))`;
}

/** The item of the scope that the delete lay in, as it was then. */
function trashTop(t: string): string {
  return `coalesce((select x.id::uuid from jsonb_array_elements_text(${t}.snapshot #> '{items,0,ancestors}')
      with ordinality as x(id, depth) where x.id::uuid = any($2::uuid[]) order by x.depth limit 1), ${t}.item_id)`;
}

// Compared as text with the dashes taken out, as without a scope.
const byPrefix = statement<{ id: string; title: string }>(
  "scope_items_by_prefix",
  `select i.id, i.title from items i
   where replace(i.id::text, '-', '') like $1 || '%' and (i.id = any($2::uuid[]) or i.ancestors && $2::uuid[])
   order by i.id limit 11`,
);

/** Up to eleven visible items whose id starts with these hex digits; one more than is ever shown. */
export async function findVisibleByPrefix(
  handle: Handle,
  prefix: string,
  scope: readonly string[],
): Promise<{ id: string; title: string }[]> {
  return await byPrefix(handle, [prefix, scope]);
}

export interface SightRow {
  readonly id: string;
  /** It exists, or existed, outside the scope. */
  readonly hidden: boolean;
  /** Of a visible item: the item of the scope that it lies in. */
  readonly top: string | null;
  /** Of a hidden item: the title that a sentence may hold. */
  readonly title: string | null;
}

/**
 * Items, notes, edges and deletes by their ids. An edge is seen by whoever sees both of its
 * ends. Of what was deleted the trash knows where it was, and after that only the audit knows
 * of which root. Ids that never named anything are not answered.
 */
const sight = statement<SightRow>(
  "scope_sight",
  `select w.id, not coalesce(k.visible, false) as hidden, case when k.visible then k.top end as top,
     case when not coalesce(k.visible, false) then k.title end as title
   from (select distinct unnest($1::uuid[]) as id) w
   cross join lateral (
     select bool_and(f.visible) as visible, min(f.top::text)::uuid as top, min(f.title) as title from (
       select (i.id = any($2::uuid[]) or i.ancestors && $2::uuid[]) as visible,
         (select a.id from unnest(i.ancestors || i.id) with ordinality as a(id, depth)
          where a.id = any($2::uuid[]) order by a.depth limit 1) as top, i.title
       from items i where i.id = w.id
       union all
       select (i.id = any($2::uuid[]) or i.ancestors && $2::uuid[]), null, null
       from notes n join items i on i.id = n.item_id where n.id = w.id
       union all
       select (i.id = any($2::uuid[]) or i.ancestors && $2::uuid[]), null, null
       from dependencies d join items i on i.id in (d.from_item, d.to_item) where d.id = w.id
       union all
       select ${trashVisible("t")}, ${trashTop("t")}, null
       from trash t where t.id = w.id or t.item_id = w.id and not exists (select 1 from items i where i.id = w.id)
       union all
       select t.root_id = any($2::uuid[]), null, null
       from (select t.root_id from transitions t where t.item_id = w.id order by t.id desc limit 1) t
       where not exists (select 1 from items i where i.id = w.id)
         and not exists (select 1 from trash t where t.item_id = w.id)
     ) f having count(*) > 0
   ) k`,
);

/** What the ids are to somebody with this scope. */
export async function findSight(
  handle: Handle,
  ids: readonly string[],
  scope: readonly string[],
): Promise<SightRow[]> {
  return await sight(handle, [ids, scope]);
}
