/**
 * Items, their state, tenures, edges, audit, idempotency and the outbox.
 *
 * Content (`items`) and state (`item_state`) live apart so that claiming, renewing and
 * advancing never rewrite wide rows or their search indexes.
 */
import { type Kysely, sql } from "kysely";

/** Safe for an older process that is still running? Forward-only migrations say so. */
export const breaking = false;

const STATEMENTS: readonly string[] = [
  // One clock for everything. Milliseconds, so that an instant survives the trip through JavaScript unchanged.
  `create function muster_now() returns timestamptz language sql stable parallel safe
     as $$ select date_trunc('milliseconds', now()) $$`,

  `create table muster_settings (
     name text primary key,
     value text not null,
     updated_at timestamptz not null default now()
   )`,

  `create table items (
     id uuid primary key,
     root_id uuid not null,
     parent_id uuid references items (id),
     ancestors uuid[] not null default '{}',
     depth int not null default 0,
     title text not null,
     summary text not null default '',
     description text,
     type text,
     tags text[] not null default '{}',
     traits text[] not null default '{}',
     needs text[] not null default '{}',
     assignee text,
     properties jsonb,
     metadata text,
     priority text not null default 'medium' check (priority in ('high', 'medium', 'low')),
     complexity smallint check (complexity between 1 and 10),
     requires_verification boolean not null default false,
     version int not null default 1,
     created_at timestamptz not null default muster_now(),
     modified_at timestamptz not null default muster_now(),
     created_by text,
     modified_by text,
     check (depth = cardinality(ancestors)),
     check ((parent_id is null) = (depth = 0)),
     check (parent_id is null or parent_id = ancestors[depth])
   )`,
  `create index items_parent on items (parent_id)`,
  `create index items_ancestors on items using gin (ancestors)`,
  `create index items_tags on items using gin (tags)`,
  `create index items_type on items (type) where type is not null`,
  `create index items_roots on items (created_at, id) where parent_id is null`,
  // Prefix look-ups of ids compare text, and there must be an order for them to use.
  `create index items_id_text on items ((replace(id::text, '-', '')) text_pattern_ops)`,

  `create table item_state (
     item_id uuid primary key references items (id) on delete cascade,
     role text not null default 'queue' check (role in ('queue', 'work', 'review', 'blocked', 'terminal')),
     previous_role text check (previous_role in ('queue', 'work', 'review')),
     outcome text check (outcome in ('done', 'cancelled')),
     status_label text,
     blockers int not null default 0 check (blockers >= 0),
     ancestor_blockers int not null default 0 check (ancestor_blockers >= 0),
     open_children int not null default 0 check (open_children >= 0),
     done_children int not null default 0 check (done_children >= 0),
     close_withheld boolean not null default false,
     available_at timestamptz,
     attempts int not null default 0,
     dead boolean not null default false,
     start_gate_open boolean not null default true,
     agent text,
     session text,
     fence bigint not null default 0,
     claimed_at timestamptz,
     original_claimed_at timestamptz,
     expires_at timestamptz,
     ttl_ms int,
     root_id uuid not null,
     parent_id uuid,
     ancestors uuid[] not null,
     rank smallint not null,
     priority text not null,
     complexity smallint,
     created_at timestamptz not null,
     modified_at timestamptz not null,
     role_changed_at timestamptz not null,
     type text,
     tags text[] not null,
     needs text[] not null,
     assignee text,
     check ((agent is null) = (session is null)),
     check ((agent is null) = (expires_at is null)),
     check ((role = 'terminal') = (outcome is not null)),
     check (not dead or role = 'blocked')
   ) with (
     fillfactor = 70,
     autovacuum_vacuum_scale_factor = 0.02,
     autovacuum_vacuum_threshold = 200,
     autovacuum_vacuum_cost_delay = 0,
     autovacuum_analyze_scale_factor = 0.05
   )`,
  // One index per ranking over the rows that could be claimed. available_at is a filter on
  // purpose: a time in an index condition would not be immutable, and few rows wait.
  `create index item_state_ready_rank on item_state (rank, created_at, item_id)
     where role = 'queue' and agent is null and blockers = 0 and ancestor_blockers = 0 and open_children = 0`,
  `create index item_state_ready_age on item_state (created_at, item_id)
     where role = 'queue' and agent is null and blockers = 0 and ancestor_blockers = 0 and open_children = 0`,
  // For the ranking that lets roots take turns.
  `create index item_state_ready_root on item_state (root_id, rank, created_at, item_id)
     where role = 'queue' and agent is null and blockers = 0 and ancestor_blockers = 0 and open_children = 0`,
  `create index item_state_free_rank on item_state (role, rank, created_at, item_id)
     where role in ('work', 'review', 'blocked') and agent is null and blockers = 0 and ancestor_blockers = 0
       and open_children = 0`,
  // Containers are offered only when asked for; apart, so that they never stand in front of leaves.
  `create index item_state_container_rank on item_state (role, rank, created_at, item_id)
     where role in ('queue', 'work', 'review', 'blocked') and agent is null and blockers = 0 and ancestor_blockers = 0
       and open_children > 0`,
  `create index item_state_expiry on item_state (expires_at) where agent is not null`,
  `create index item_state_holder on item_state (agent, session) where agent is not null`,
  // Without an order on purpose: with one, the planner would take it for the index of the oldest claimable rows.
  `create index item_state_role on item_state (role, item_id) where role <> 'terminal'`,
  `create index item_state_assignee on item_state (assignee) where assignee is not null`,
  // What is stuck, for the list of it. A claim never touches a row that is in here.
  `create index item_state_stuck on item_state (rank, created_at, item_id)
     where role <> 'terminal' and (role = 'blocked' or blockers > 0 or ancestor_blockers > 0)`,
  // Partial like the others, so that a claim does not have to touch it; children as such are found through items_parent.
  `create index item_state_ready_parent on item_state (parent_id, rank, created_at, item_id)
     where role = 'queue' and agent is null and blockers = 0 and ancestor_blockers = 0 and open_children = 0`,
  `create index item_state_waiting on item_state (available_at)
     where available_at is not null and agent is null and role in ('queue', 'work', 'review')`,

  // The copies that the selector filters and ranks by follow the content, whoever writes it.
  `create function item_state_copy() returns trigger language plpgsql as $$
   begin
     update item_state s set
       root_id = new.root_id, parent_id = new.parent_id, ancestors = new.ancestors,
       rank = muster_rank(new.priority, new.complexity), priority = new.priority, complexity = new.complexity,
       type = new.type, tags = new.tags, needs = new.needs, assignee = new.assignee,
       modified_at = greatest(new.modified_at, s.modified_at)
     where s.item_id = new.id;
     return null;
   end $$`,
  `create function muster_rank(priority text, complexity smallint) returns smallint language sql immutable
     as $$ select (case priority when 'high' then 0 when 'medium' then 16 else 32 end + coalesce(complexity, 11))::smallint $$`,
  `create trigger items_copy after update on items for each row execute function item_state_copy()`,

  // No foreign key: its check would lock the item's wide row at every claim. Deleting an item deletes its attempts.
  `create table attempts (
     item_id uuid not null,
     fence bigint not null,
     agent text not null,
     session text not null,
     parent_agent text,
     claimed_at timestamptz not null,
     ended_at timestamptz,
     end_reason text check (end_reason in ('completed', 'released', 'expired', 'revoked', 'failed')),
     detail text,
     usage jsonb,
     primary key (item_id, fence),
     check ((ended_at is null) = (end_reason is null))
   )`,

  `create table dependencies (
     id uuid primary key,
     from_item uuid not null references items (id) on delete cascade,
     to_item uuid not null references items (id) on delete cascade,
     type text not null check (type in ('BLOCKS', 'RELATES_TO')),
     unblock_at text check (unblock_at in ('queue', 'work', 'review', 'terminal')),
     on_cancelled text check (on_cancelled in ('hold', 'release')),
     created_at timestamptz not null default muster_now(),
     created_by text,
     unique (from_item, to_item, type),
     check (from_item <> to_item),
     check (type = 'BLOCKS' or (unblock_at is null and on_cancelled is null))
   )`,
  `create index dependencies_to on dependencies (to_item, type)`,

  // Audit survives the item it speaks of, so nothing here refers to items.
  `create table transitions (
     id bigint generated always as identity,
     item_id uuid not null,
     root_id uuid not null,
     from_role text not null,
     to_role text not null,
     from_label text,
     to_label text,
     trigger text not null,
     summary text,
     agent text,
     session text,
     actor jsonb,
     fence bigint,
     at timestamptz not null default muster_now(),
     primary key (item_id, id)
   )`,

  `create table trash (
     id uuid primary key,
     item_id uuid not null,
     root_id uuid not null,
     title text not null,
     items_count int not null,
     deleted_at timestamptz not null default muster_now(),
     deleted_by text,
     expires_at timestamptz not null,
     restored_at timestamptz,
     snapshot jsonb not null
   )`,
  `create index trash_item on trash (item_id)`,
  `create index trash_expiry on trash (expires_at)`,

  `create table idempotency (
     principal text not null,
     key uuid not null,
     element text not null,
     operation text not null,
     fingerprint text not null,
     answer json not null,
     target_id uuid,
     created_at timestamptz not null default muster_now(),
     -- The key first: it alone nearly always decides where a row goes, and costs least to compare.
     primary key (key, principal, element)
   )`,
  // Takes keys for this transaction and answers those that were used before. A key that another
  // transaction is using right now is waited for; the look comes after the wait, with a snapshot of
  // its own, since this function is volatile. The row is written once, at the end, with its answer.
  `create function muster_take_keys(wanted jsonb, lock_timeout_ms int)
   returns table (principal text, key uuid, element text)
   -- One index probe a key, whatever the planner believes about a table that was empty a minute ago.
   language plpgsql volatile set enable_seqscan to off set plan_cache_mode to force_generic_plan as $$
   begin
     if lock_timeout_ms is not null then
       perform set_config('lock_timeout', lock_timeout_ms::text, true);
     end if;
     begin
       perform pg_advisory_xact_lock(hashtextextended(w.principal || '/' || w.key, 11))
         from (select distinct c.principal, c.key from jsonb_to_recordset(wanted) as c(principal text, key uuid)
           order by 1, 2) w;
     exception when lock_not_available then
       -- Told apart from a busy row: this caller's first call is still running.
       raise exception 'a key is in use' using errcode = 'P0K01';
     end;
     return query select c.principal, c.key, c.element
       from jsonb_to_recordset(wanted)
         as c(principal text, key uuid, element text, operation text, fingerprint text)
       -- Used is a key whose element has an answer, or that belongs to another call altogether.
       cross join lateral (select 1 from idempotency i
         where i.principal = c.principal and i.key = c.key
           and (i.element = c.element or i.operation <> c.operation or i.fingerprint <> c.fingerprint) limit 1) i;
   end $$`,
  // Rows come in the order of their age, so a summary of page ranges finds the old ones, and costs next to nothing.
  `create index idempotency_age on idempotency using brin (created_at)`,

  `create table events (
     seq bigint generated always as identity primary key,
     type text not null,
     item_id uuid,
     root_id uuid,
     data jsonb not null default '{}',
     at timestamptz not null default muster_now(),
     xid xid8 not null default pg_current_xact_id()
   )`,

  `create table agents (
     agent text not null,
     session text not null,
     kind text,
     parent_agent text,
     client jsonb,
     capabilities text[] not null default '{}',
     first_seen_at timestamptz not null default muster_now(),
     last_seen_at timestamptz not null default muster_now(),
     primary key (agent, session)
   )`,
  `create index agents_seen on agents (last_seen_at desc)`,

  `create table sweeps (
     name text primary key,
     ran_at timestamptz not null,
     freed int not null default 0
   )`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
