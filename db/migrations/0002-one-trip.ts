/**
 * The steps of a decision that follow each other without anything to decide in between,
 * as one call each. What a transaction costs is the number of its messages, far more than
 * what the statements do; and inside a volatile function every statement has a snapshot
 * of its own, so that what is read after a lock is read as it is after the lock.
 *
 * Plans are generic: these statements look up keys, and planning them anew would cost
 * more than running them.
 */
import { type Kysely, sql } from "kysely";

export const breaking = false;

const STATEMENTS: readonly string[] = [
  // What an earlier statement of the same transaction found, for a later one that was sent with it:
  // so a choice and the locks that follow from it share one trip.
  `create function muster_picked() returns uuid[] language sql stable
     as $$ select coalesce(nullif(current_setting('muster.picked', true), ''), '{}')::uuid[] $$`,
  `create function muster_held() returns uuid[] language sql stable
     as $$ select coalesce(nullif(current_setting('muster.held', true), ''), '{}')::uuid[] $$`,

  // Raised by a statement that travels with the commit and finds that its decision does not hold.
  `create function muster_start_over() returns boolean language plpgsql volatile as $$
   begin
     raise exception 'a counted parent is about to close' using errcode = 'P0K02';
   end $$`,

  // Locks the rows that a decision may touch, in id order.
  //
  // closing   items that may close or open again, and so count in their parents
  // starting  items that at most start, which pulls queued parents with it
  // alone     items whose neighbours do not matter
  // subtrees  items whose whole subtree is needed
  // near      a parent with more open children than this is not locked: it cannot close, and counts later
  //
  // Ids are gathered into an array before they meet the table: an array is looked up by the key,
  // while a set that the planner misjudges is joined to the whole table.
  `create function muster_lock(closing uuid[], starting uuid[], alone uuid[], subtrees uuid[], near int)
   returns setof item_state
   language plpgsql volatile rows 30 set plan_cache_mode to force_generic_plan as $$
   declare
     judged uuid[] := closing || starting;
     wanted uuid[] := judged || alone;
   begin
     if cardinality(judged) > 0 then
       wanted := array(
         select unnest(wanted)
         union select p.item_id from item_state i join item_state p on p.item_id = i.parent_id
           where i.item_id = any(closing) and (p.role in ('queue', 'terminal') or p.open_children <= near)
         union select p.item_id from item_state i join item_state p on p.item_id = i.parent_id
           where i.item_id = any(starting) and p.role = 'queue'
         union select d.to_item from dependencies d where d.from_item = any(judged) and d.type = 'BLOCKS');
     end if;
     if cardinality(subtrees) > 0 then
       wanted := array(select unnest(wanted) union select i.id from items i where i.ancestors && subtrees);
     end if;
     return query select s.* from item_state s where s.item_id = any(wanted) order by s.item_id for no key update of s;
   end $$`,

  // What hangs on the locked rows, read after the locks: a read before would see the world as it was
  // before the wait. Parents are read without a lock: good enough to leave alone one that a start would
  // not move, and one that is far from closing, which is counted and checked when the change is written.
  `create function muster_surroundings(closing uuid[], starting uuid[], subtrees uuid[]) returns json
   language plpgsql volatile set plan_cache_mode to force_generic_plan as $$
   declare
     judged uuid[] := closing || starting;
     parents uuid[];
     edges json;
     glimpsed json;
     rows_below json;
   begin
     if cardinality(judged) > 0 then
       select array_agg(distinct i.parent_id), json_object_agg(p.item_id, json_build_array(p.role, p.open_children))
         into parents, glimpsed
         from (select distinct s.parent_id from item_state s
           where s.item_id = any(judged) and s.parent_id is not null) i
         join item_state p on p.item_id = i.parent_id;
       select json_agg(row_to_json(e)) into edges from (
         select d.id, d.from_item, d.to_item, d.unblock_at, d.on_cancelled,
           exists (select 1 from items c where c.parent_id = d.to_item) as to_has_children
         from dependencies d where d.type = 'BLOCKS' and d.from_item = any(judged || parents)) e;
     end if;
     if cardinality(subtrees) > 0 then
       select json_agg(i.id) into rows_below from items i where i.ancestors && subtrees;
     end if;
     return json_build_object('judged', judged, 'edges', edges, 'parents', glimpsed, 'below', rows_below);
   end $$`,

  // Keys, then holders, then what they hold and what is meant for them alone: what a flush of claims begins with.
  `create function muster_open_claims(keys jsonb, lock_timeout_ms int, holders text[], wait boolean,
     agents text[], sessions text[], by_name boolean) returns json
   language plpgsql volatile set plan_cache_mode to force_generic_plan as $$
   declare
     used json;
     busy json;
     concerns json;
   begin
     select json_agg(k) into used from muster_take_keys(keys, lock_timeout_ms) k;
     if wait then
       perform pg_advisory_xact_lock(hashtextextended(h, 7)) from (select unnest(holders) as h order by 1) o;
     else
       select json_agg(o.h) into busy from (select unnest(holders) as h order by 1) o
         where not pg_try_advisory_xact_lock(hashtextextended(o.h, 7));
     end if;
     select json_agg(c) into concerns from (
       select s.item_id, s.agent, s.session, s.open_children > 0 as container
       from item_state s
       where s.agent = any(agents) and (by_name or s.session = any(sessions) or s.open_children > 0)
       union all
       select null, a.assignee, null, false
       from (select distinct s.assignee from item_state s
         where s.assignee = any(agents) and s.role <> 'terminal') a) c;
     if concerns is not null then
       perform set_config('muster.held', array(select s.item_id from item_state s
         where s.agent = any(agents) and (by_name or s.agent || chr(1) || s.session = any(holders)))::text, true);
     end if;
     return json_build_object('used', used, 'busy', busy, 'concerns', concerns);
   end $$`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
