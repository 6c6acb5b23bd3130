/**
 * Moves `muster_now()` in test builds, so that time is moved and never slept. Production
 * code never imports this file; there the function stays a plain `now()`.
 */
import { type Kysely, sql } from "kysely";
import type { Database } from "./schema.ts";

export async function installTestClock(db: Kysely<Database>): Promise<void> {
  await sql`create table if not exists muster_clock (only_row boolean primary key default true, shift_ms bigint not null)`.execute(
    db,
  );
  await sql`insert into muster_clock (shift_ms) values (0) on conflict do nothing`.execute(db);
  await sql`create or replace function muster_now() returns timestamptz language sql stable as
    $$ select date_trunc('milliseconds', now() + (select shift_ms from muster_clock) * interval '1 millisecond') $$`.execute(
    db,
  );
}

/** Moves the database's clock forward (or back, with a negative number). */
export async function advanceClock(db: Kysely<Database>, ms: number): Promise<void> {
  await sql`update muster_clock set shift_ms = shift_ms + ${ms}`.execute(db);
}
