/**
 * What is let go of when its time is over, what is due when, and roots whose environment is
 * broken.
 *
 *   retention_passes  how far each shelf of old rows has been looked through; its row is the
 *                     lock of whoever looks right now
 *   root_ends         how attempts ended in roots whose environment failed lately; nothing is
 *                     written here as long as none fails
 *   root_breakers     roots in which nothing is claimed but one probe at a time
 */
import { type Kysely, sql } from "kysely";

export const breaking = false;

const STATEMENTS: readonly string[] = [
  `create table retention_passes (
     name text primary key,
     -- Everything before it has been looked at in this pass: a page of the heap, or a key.
     position bigint not null default 0,
     finished_at timestamptz,
     deleted bigint not null default 0
   )`,

  `alter table items add column due_at timestamptz`,
  `create index items_due on items (due_at, id) where due_at is not null`,

  `alter table attempts add column failure text check (failure in ('item', 'environment'))`,

  `create table root_ends (
     id bigint generated always as identity primary key,
     root_id uuid not null,
     at timestamptz not null default muster_now(),
     environment boolean not null
   )`,
  `create index root_ends_root on root_ends (root_id, at)`,

  `create table root_breakers (
     root_id uuid primary key references items (id) on delete cascade,
     opened_at timestamptz not null,
     reason text,
     -- What it was opened for: so many of so many attempts.
     failures int not null,
     ends int not null,
     probe_at timestamptz not null,
     probes int not null default 0,
     probe_item uuid,
     probe_fence bigint,
     check ((probe_item is null) = (probe_fence is null))
   )`,
  // Roots in which nothing is offered now. Offers ask it once a statement; in a language whose
  // bodies are not copied into the statement, where they would be planned anew with each.
  `create function muster_paused_roots() returns uuid[] language plpgsql stable as $$
   begin
     return array(select b.root_id from root_breakers b where b.probe_item is not null or b.probe_at > muster_now());
   end $$`,
  // As in 0002, and what is nearly always empty, so that it costs no trip of its own: who of the agents
  // may take nothing new, and which roots have a breaker, where whoever claims may be its probe.
  `create or replace function muster_open_claims(keys jsonb, lock_timeout_ms int, holders text[], wait boolean,
     agents text[], sessions text[], by_name boolean) returns json
   language plpgsql volatile set plan_cache_mode to force_generic_plan as $$
   declare
     used json;
     busy json;
     concerns json;
     drained json;
     breakers json;
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
     select json_agg(b.root_id) into breakers from root_breakers b;
     return json_build_object('used', used, 'busy', busy, 'concerns', concerns, 'drained', drained, 'breakers', breakers);
   end $$`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
