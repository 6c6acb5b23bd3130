/**
 * The counters of items, worked out anew from rows and edges: for items that did not come one by
 * one through the decisions that keep them. Rows that already say the right thing are not written.
 */
import { type Handle, statement } from "../statement.ts";

// The order of the roles is that of `reaches`; a blocker that is on hold has reached nothing.
const recount = statement<{ item_id: string }>(
  "recount_items",
  `with scope as (
     select * from item_state s where $1::uuid[] is null or s.root_id = any($1::uuid[])
   ), own as (
     select d.to_item as item_id, count(*)::int as blockers
     from scope s join dependencies d on d.to_item = s.item_id join item_state b on b.item_id = d.from_item
     where d.type = 'BLOCKS' and not (
       case when b.outcome = 'cancelled' then coalesce(d.on_cancelled, $2) = 'release'
       else b.role <> 'blocked'
         and array_position(array['queue', 'work', 'review', 'terminal'], b.role)
           >= array_position(array['queue', 'work', 'review', 'terminal'], coalesce(d.unblock_at, 'terminal')) end)
     group by d.to_item
   ), children as (
     select parent_id as item_id, count(*) filter (where role <> 'terminal')::int as open,
       count(*) filter (where outcome = 'done')::int as done
     from scope where parent_id is not null group by parent_id
   ), above as (
     select s.item_id, count(*)::int as blocked
     from scope s cross join unnest(s.ancestors) as a(id) join own o on o.item_id = a.id group by s.item_id
   ), counted as (
     select s.item_id, coalesce(o.blockers, 0) as blockers, coalesce(a.blocked, 0) as above,
       coalesce(c.open, 0) as open, coalesce(c.done, 0) as done
     from scope s left join own o using (item_id) left join children c using (item_id) left join above a using (item_id)
   )
   update item_state s set blockers = c.blockers, ancestor_blockers = c.above, open_children = c.open,
     done_children = c.done
   from counted c
   where c.item_id = s.item_id
     and (s.blockers, s.ancestor_blockers, s.open_children, s.done_children) <> (c.blockers, c.above, c.open, c.done)
   returning s.item_id`,
);

/**
 * Of the items of these roots, or of all. `onCancelled` is what an edge that does not say means
 * when its blocker is cancelled. Answers which items had other counters.
 */
export async function recountItems(
  handle: Handle,
  rootIds: readonly string[] | null,
  onCancelled: "hold" | "release",
): Promise<string[]> {
  return (await recount(handle, [rootIds, onCancelled])).map((row) => row.item_id);
}
