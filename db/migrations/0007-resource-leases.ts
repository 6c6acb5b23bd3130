/**
 * Holds on named resources, who waits for them, and who had them when.
 *
 * A held item's leases live as long as its claim, so that a heartbeat renews both and writes
 * nothing here: whether a lease lives is read from its item. `expires_at` counts for items
 * that nobody holds.
 */
import { type Kysely, sql } from "kysely";

export const breaking = false;

const STATEMENTS: readonly string[] = [
  // One row a key, made when the key is first asked for and never removed: everybody who wants the key
  // queues up for this row. `ended_at` is when its last lease ended: the next one begins no earlier, though
  // the transaction that takes it began before the one that let go.
  `create table resource_keys (
     key text primary key,
     ended_at timestamptz
   )`,

  // The item is the subject, never the agent. That an exclusive lease is alone is decided under the key's
  // row; the index holds it against everybody who forgets.
  `create table resource_leases (
     item_id uuid not null references item_state (item_id) on delete cascade,
     key text not null,
     mode text not null check (mode in ('exclusive', 'shared')),
     ttl_ms int not null check (ttl_ms > 0),
     fence bigint not null,
     acquired_by text,
     acquired_at timestamptz not null,
     original_acquired_at timestamptz not null,
     expires_at timestamptz not null,
     primary key (item_id, key)
   )`,
  `create index resource_leases_key on resource_leases (key)`,
  `create unique index resource_leases_alone on resource_leases (key) where mode = 'exclusive'`,

  // Append-only, and survives its item. An interval is open until its lease ended.
  `create table resource_lease_history (
     id bigint generated always as identity primary key,
     item_id uuid not null,
     key text not null,
     mode text not null,
     fence bigint not null,
     acquired_by text,
     acquired_at timestamptz not null,
     released_at timestamptz,
     release_reason text check (release_reason in ('released', 'expired', 'force_released')),
     released_by text,
     detail text,
     check ((released_at is null) = (release_reason is null)),
     check (released_at >= acquired_at)
   )`,
  `create unique index resource_lease_history_open on resource_lease_history (item_id, key) where released_at is null`,
  `create index resource_lease_history_key on resource_lease_history (key, acquired_at desc)`,
  `create index resource_lease_history_forced on resource_lease_history (item_id, fence)
     where release_reason = 'force_released'`,

  // Who asked first. A ticket belongs to one tenure of its item in one phase, and is void with either;
  // numbers are given out under the locks of its keys, so that they are in order among those who share one.
  `create sequence resource_ticket_number`,
  `create table resource_tickets (
     item_id uuid not null references item_state (item_id) on delete cascade,
     key text not null,
     number bigint not null,
     fence bigint not null,
     role_changed_at timestamptz not null,
     issued_at timestamptz not null,
     primary key (key, item_id)
   )`,
  `create index resource_tickets_item on resource_tickets (item_id)`,

  // resources    what its schema makes it take when it enters work, as far as others can stand in the way;
  //              a copy that offers are filtered by, the schema decides
  // leased       keys that it holds or held since it entered work: what leaving has to let go of
  // lost_leases  keys that an operator took from it since it entered work
  `alter table item_state add column resources jsonb, add column leased text[], add column lost_leases text[]`,
  `alter table transitions add column consumed_credentials text[]`,

  // What is known of the keys. Tickets are those that still count.
  `create function muster_leases(wanted text[]) returns json language sql stable as $$
     select json_build_object(
       'keys', (select json_agg(json_build_object('key', k.key,
           'ended_at', (extract(epoch from k.ended_at) * 1000)::bigint))
         from resource_keys k where k.key = any(wanted) and k.ended_at is not null),
       'leases', (select json_agg(json_build_object('item_id', l.item_id, 'key', l.key, 'mode', l.mode,
           'ttl_ms', l.ttl_ms, 'fence', l.fence, 'acquired_by', l.acquired_by,
           'acquired_at', (extract(epoch from l.acquired_at) * 1000)::bigint,
           'original_acquired_at', (extract(epoch from l.original_acquired_at) * 1000)::bigint,
           'expires_at', (extract(epoch from l.expires_at) * 1000)::bigint,
           'claim', case when s.agent is not null then json_build_object('fence', s.fence, 'ttl_ms', s.ttl_ms,
             'expires_at', (extract(epoch from s.expires_at) * 1000)::bigint) end))
         from resource_leases l join item_state s on s.item_id = l.item_id where l.key = any(wanted)),
       'tickets', (select json_agg(json_build_object('item_id', t.item_id, 'key', t.key, 'number', t.number,
           'fence', t.fence, 'ttl_ms', s.ttl_ms,
           'expires_at', (extract(epoch from s.expires_at) * 1000)::bigint))
         from resource_tickets t join item_state s on s.item_id = t.item_id
         where t.key = any(wanted) and s.agent is not null and s.fence = t.fence
           and s.role_changed_at = t.role_changed_at))
   $$`,

  // Locks the keys in order and reads what is known of them, as it is after the locks.
  `create function muster_open_leases(wanted text[]) returns json
   language plpgsql volatile set plan_cache_mode to force_generic_plan as $$
   declare
     found json;
   begin
     insert into resource_keys (key)
       select w.key from unnest(wanted) as w(key)
       where not exists (select 1 from resource_keys k where k.key = w.key)
       order by w.key on conflict do nothing;
     perform 1 from resource_keys k where k.key = any(wanted) order by k.key for no key update of k;
     -- Once void, always void: fences and role changes only go forward.
     delete from resource_tickets t using item_state s
       where t.key = any(wanted) and s.item_id = t.item_id
         and (s.agent is null or s.fence <> t.fence or s.role_changed_at <> t.role_changed_at);
     select muster_leases(wanted) into found;
     return found;
   end $$`,

  // Everything that one decision changed. Ends come first: what is taken may be what was let go of.
  `create function muster_save_leases(changes json) returns void
   language plpgsql volatile set plan_cache_mode to force_generic_plan as $$
   begin
     delete from resource_leases l using json_to_recordset(changes -> 'ended') as c(item_id uuid, key text)
       where l.item_id = c.item_id and l.key = c.key;
     update resource_lease_history h
       set released_at = greatest(c.at, h.acquired_at), release_reason = c.reason, released_by = c.by, detail = c.detail
       from json_to_recordset(changes -> 'ended')
         as c(item_id uuid, key text, at timestamptz, reason text, by text, detail text)
       where h.item_id = c.item_id and h.key = c.key and h.released_at is null;
     update resource_keys k set ended_at = greatest(k.ended_at, c.at)
       from json_to_recordset(changes -> 'keys') as c(key text, at timestamptz)
       where k.key = c.key;
     insert into resource_leases (item_id, key, mode, ttl_ms, fence, acquired_by, acquired_at, original_acquired_at,
         expires_at)
       select c.item_id, c.key, c.mode, c.ttl_ms, c.fence, c.acquired_by, c.acquired_at, c.original_acquired_at,
         c.expires_at
       from json_to_recordset(changes -> 'held') as c(item_id uuid, key text, mode text, ttl_ms int, fence bigint,
         acquired_by text, acquired_at timestamptz, original_acquired_at timestamptz, expires_at timestamptz)
       on conflict (item_id, key) do update set mode = excluded.mode, ttl_ms = excluded.ttl_ms,
         fence = excluded.fence, acquired_by = excluded.acquired_by, acquired_at = excluded.acquired_at,
         expires_at = excluded.expires_at;
     insert into resource_lease_history (item_id, key, mode, fence, acquired_by, acquired_at, released_at,
         release_reason, released_by, detail)
       select c.item_id, c.key, c.mode, c.fence, c.acquired_by, c.acquired_at,
         case when c.at is not null then greatest(c.at, c.acquired_at) end, c.reason, c.by, c.detail
       from json_to_recordset(changes -> 'begun') as c(item_id uuid, key text, mode text, fence bigint,
         acquired_by text, acquired_at timestamptz, at timestamptz, reason text, by text, detail text);
     delete from resource_tickets t using json_array_elements_text(changes -> 'served') as c(item_id)
       where t.item_id = c.item_id::uuid;
     insert into resource_tickets (item_id, key, number, fence, role_changed_at, issued_at)
       select c.item_id, k.key, c.number, s.fence, s.role_changed_at, muster_now()
       from (select w.item_id, w.keys, nextval('resource_ticket_number') as number
         from json_to_recordset(changes -> 'waiting') as w(item_id uuid, keys text[])) c
       join item_state s on s.item_id = c.item_id cross join unnest(c.keys) as k(key)
       on conflict (key, item_id) do nothing;
     update item_state s set leased = c.leased, lost_leases = c.lost
       from json_to_recordset(changes -> 'items') as c(item_id uuid, leased text[], lost text[])
       where s.item_id = c.item_id;
   end $$`,

  // Could the item take these now? For offers, which skip what could not: a look, not a decision.
  `create function muster_resources_free(item uuid, wanted jsonb) returns boolean language sql stable as $$
     select not exists (
       select 1 from jsonb_to_recordset(wanted) as w(key text, mode text, capacity int)
       where exists (select 1 from resource_tickets t join item_state s on s.item_id = t.item_id
           where t.key = w.key and t.item_id <> item and s.agent is not null and s.fence = t.fence
             and s.role_changed_at = t.role_changed_at)
         or (select count(*) filter (where l.mode = 'exclusive' or w.mode = 'exclusive') > 0
               or count(*) >= coalesce(w.capacity, 1)
             from resource_leases l join item_state s on s.item_id = l.item_id
             where l.key = w.key and l.item_id <> item
               and (s.agent is not null or l.expires_at > muster_now())))
   $$`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
