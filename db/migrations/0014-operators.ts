/** What operators need: agents that take nothing new, lists that do not read whole tables, and who serves. */
import { type Kysely, sql } from "kysely";

export const breaking = false;

const STATEMENTS: readonly string[] = [
  `create table agent_drains (
     agent text primary key,
     reason text not null,
     drained_at timestamptz not null default muster_now(),
     drained_by text,
     actor jsonb,
     verification jsonb
   )`,
  // The processes that serve this database, each with a row that it writes every few seconds.
  `create unlogged table processes (
     id uuid primary key,
     kind text not null,
     version text not null,
     config text,
     host text not null,
     pid int not null,
     started_at timestamptz not null default now(),
     seen_at timestamptz not null default now(),
     skew_ms int not null,
     pool_max int,
     pool_busy int,
     pool_waiting int
   )`,
  // How an agent's latest attempts ended. The end itself is not in it: ending an attempt stays a change
  // that no index has to follow.
  `create index attempts_agent on attempts (agent, claimed_at)`,
  // A claim never touches a row that is in here.
  `create index item_state_dead on item_state (role_changed_at, item_id) where dead`,
  `create index trash_root on trash (root_id, deleted_at)`,

  // As in 0002, and who of the agents may take nothing new: no trip of its own for what is nearly always empty.
  `create or replace function muster_open_claims(keys jsonb, lock_timeout_ms int, holders text[], wait boolean,
     agents text[], sessions text[], by_name boolean) returns json
   language plpgsql volatile set plan_cache_mode to force_generic_plan as $$
   declare
     used json;
     busy json;
     concerns json;
     drained json;
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
     select json_agg(d.agent) into drained from agent_drains d where d.agent = any(agents);
     return json_build_object('used', used, 'busy', busy, 'concerns', concerns, 'drained', drained);
   end $$`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
