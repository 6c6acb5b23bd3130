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
  // Locks the rows that a decision about `items` may touch, in id order.
  //
  // items     what is decided about
  // extra     rows that an earlier try turned out to need
  // subtrees  items whose whole subtree is needed
  // parents   which parents are needed: all, those that are queued, or none; with none, what the
  //           items hold up is not needed either
  //
  // Ids are gathered into an array before they meet the table: an array is looked up by the key,
  // while a set that the planner misjudges is joined to the whole table.
  `create function muster_lock(items uuid[], extra uuid[], subtrees uuid[], parents text) returns setof item_state
   language plpgsql volatile rows 30 set plan_cache_mode to force_generic_plan as $$
   declare
     seeds uuid[] := items || extra;
     wanted uuid[] := seeds;
   begin
     if parents <> 'none' then
       wanted := array(
         select unnest(seeds)
         union select p.item_id from item_state i join item_state p on p.item_id = i.parent_id
           where i.item_id = any(seeds) and (parents = 'all' or p.role = 'queue')
         union select d.to_item from dependencies d where d.from_item = any(seeds) and d.type = 'BLOCKS');
     end if;
     if cardinality(subtrees) > 0 then
       wanted := array(select unnest(wanted) union select i.id from items i where i.ancestors && subtrees);
     end if;
     return query select s.* from item_state s where s.item_id = any(wanted) order by s.item_id for no key update of s;
   end $$`,

  // What hangs on the locked rows, read after the locks: a read before would see the world as it was
  // before the wait.
  `create function muster_surroundings(items uuid[], extra uuid[], subtrees uuid[], parents text) returns json
   language plpgsql volatile set plan_cache_mode to force_generic_plan as $$
   declare
     seeds uuid[] := items || extra;
     edges json;
     roles json;
     rows_below json;
   begin
     if parents <> 'none' then
       select json_agg(row_to_json(e)) into edges from (
         select d.id, d.from_item, d.to_item, d.unblock_at, d.on_cancelled,
           exists (select 1 from items c where c.parent_id = d.to_item) as to_has_children
         from dependencies d
         where d.type = 'BLOCKS' and d.from_item = any(array(
           select unnest(seeds)
           union select p.parent_id from item_state p where p.item_id = any(seeds) and p.parent_id is not null))) e;
     end if;
     if parents = 'queued' then
       -- Read without a lock: good enough to leave alone a parent that a start would not move, since
       -- it comes to the same as if the start had been first.
       select json_object_agg(p.item_id, p.role) into roles from item_state p where p.item_id = any(array(
         select i.parent_id from item_state i where i.item_id = any(items) and i.parent_id is not null));
     end if;
     if cardinality(subtrees) > 0 then
       select json_agg(i.id) into rows_below from items i where i.ancestors && subtrees;
     end if;
     return json_build_object('edges', edges, 'roles', roles, 'below', rows_below);
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
     return json_build_object('used', used, 'busy', busy, 'concerns', concerns);
   end $$`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
