/**
 * Who wrote what, and how sure that is.
 *
 * `actor` is what the caller said of itself, with what its client calls itself; it may have no
 * `id`, when only the client is known. `verification` is what became of its proof, and null
 * where nothing verifies. A proof is a credential and never stored: what stays of it is its
 * SHA-256 and the claims that were verified.
 */
import { type Kysely, sql } from "kysely";

export const breaking = false;

const STATEMENTS: readonly string[] = [
  `alter table items
     add column created_actor jsonb, add column created_verification jsonb,
     add column modified_actor jsonb, add column modified_verification jsonb`,
  `alter table dependencies add column created_actor jsonb, add column created_verification jsonb`,
  `alter table trash add column deleted_actor jsonb, add column deleted_verification jsonb`,
  `alter table attempts add column actor jsonb, add column verification jsonb`,
  `alter table transitions add column verification jsonb`,
  // Of the latest call that was heard of.
  `alter table agents add column verification jsonb`,

  // What leaves no row of its own to carry its author: an edge that was taken away, an edit that a
  // later one covered. Survives its item, so nothing here refers to items.
  `create table audit_log (
     id bigint generated always as identity primary key,
     at timestamptz not null default muster_now(),
     action text not null,
     item_id uuid,
     root_id uuid,
     agent text,
     session text,
     actor jsonb,
     verification jsonb,
     data jsonb not null default '{}'
   )`,
  `create index audit_log_item on audit_log (item_id, id) where item_id is not null`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
