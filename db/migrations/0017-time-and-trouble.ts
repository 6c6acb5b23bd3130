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
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
