/**
 * Notes, and what texts said before.
 *
 * A note is written under the lock of its item's state row, so nothing here is contended.
 * `notes` holds what a note says now; `note_versions` what it said before, filed under item
 * and key, so that a note which was deleted and written again goes on counting its versions.
 * `item_versions` holds, per change of an item's texts, what the changed fields said before it.
 *
 * `edits` is what an anchored edit replaced, with the text around it: what undoing it needs.
 */
import { type Kysely, sql } from "kysely";

export const breaking = false;

const STATEMENTS: readonly string[] = [
  // The state row is locked by whoever writes a note, so the check of the foreign key costs nothing;
  // against `items` it would lock the wide row as well.
  `create table notes (
     id uuid primary key,
     item_id uuid not null references item_state (item_id) on delete cascade,
     key text not null,
     role text not null check (role in ('queue', 'work', 'review')),
     body text not null default '',
     version int not null default 1,
     created_at timestamptz not null default muster_now(),
     modified_at timestamptz not null default muster_now(),
     agent text,
     session text,
     actor jsonb,
     verification jsonb,
     edits jsonb,
     unique (item_id, key)
   )`,

  `create table note_versions (
     item_id uuid not null references item_state (item_id) on delete cascade,
     key text not null,
     version int not null,
     note_id uuid not null,
     role text not null,
     body text not null,
     at timestamptz not null,
     agent text,
     session text,
     actor jsonb,
     verification jsonb,
     edits jsonb,
     primary key (item_id, key, version)
   )`,

  // `version` is the one that the change made; `before` has the changed fields only.
  `create table item_versions (
     item_id uuid not null references item_state (item_id) on delete cascade,
     version int not null,
     before jsonb not null,
     edits jsonb,
     at timestamptz not null default muster_now(),
     agent text,
     session text,
     actor jsonb,
     verification jsonb,
     primary key (item_id, version)
   )`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
