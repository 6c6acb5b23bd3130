/**
 * Wake-ups: reminders, which come once, and schedules, which come again.
 *
 *   reminders      armed until `fired_at`, fired until `acked_at`. No foreign key to the item:
 *                  a reminder outlives a delete, and comes back with a restore
 *   schedules      `next_at` is the planned instant that comes next; null while paused
 *   schedule_runs  one row per planned instant: whoever stores it has done what was planned, in
 *                  the same transaction, and nobody else can
 */
import { type Kysely, sql } from "kysely";

export const breaking = false;

const STATEMENTS: readonly string[] = [
  `create table reminders (
     id uuid primary key,
     item_id uuid not null,
     remind_at timestamptz not null,
     note text,
     to_agent text,
     to_capability text,
     fired_at timestamptz,
     acked_at timestamptz,
     acked_by text,
     schedule_id uuid,
     created_at timestamptz not null default muster_now(),
     created_by text,
     actor jsonb,
     verification jsonb,
     updated_at timestamptz not null default muster_now(),
     check (acked_at is null or fired_at is not null)
   )`,
  `create index reminders_due on reminders (remind_at, id) where fired_at is null`,
  `create index reminders_pending on reminders (fired_at, id) where fired_at is not null and acked_at is null`,
  `create index reminders_item on reminders (item_id, remind_at)`,

  `create table schedules (
     id uuid primary key,
     name text not null,
     -- What it concerns, and what scopes judge it by; null: it makes roots.
     item_id uuid,
     action text not null check (action in ('create', 'advance', 'remind')),
     template jsonb not null,
     cron text,
     every_seconds int,
     starts_at timestamptz not null,
     timezone text not null,
     misfire text not null check (misfire in ('skip', 'fire_once', 'catch_up')),
     catch_up_max int not null,
     overlap text not null check (overlap in ('allow', 'skip', 'queue')),
     paused boolean not null default false,
     next_at timestamptz,
     version int not null default 1,
     created_at timestamptz not null default muster_now(),
     created_by text,
     actor jsonb,
     verification jsonb,
     updated_at timestamptz not null default muster_now(),
     check ((cron is null) <> (every_seconds is null))
   )`,
  `create index schedules_next on schedules (next_at, id) where next_at is not null`,
  `create index schedules_item on schedules (item_id)`,

  `create table schedule_runs (
     schedule_id uuid not null references schedules (id) on delete cascade,
     planned_at timestamptz not null,
     manual boolean not null default false,
     outcome text not null check (outcome in ('queued', 'fired', 'skipped', 'failed')),
     detail text,
     -- What it made, moved or reminded of.
     item_id uuid,
     reminder_id uuid,
     ran_at timestamptz not null default muster_now(),
     primary key (schedule_id, planned_at)
   )`,
  `create index schedule_runs_queued on schedule_runs (schedule_id, planned_at) where outcome = 'queued'`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
