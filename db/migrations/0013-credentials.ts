/**
 * Tokens that open the doors, and a row per call that went through them or was turned away.
 *
 * Of a token's secret only the SHA-256 is here: whoever reads the database cannot call with
 * it. 256 random bits need no salt and no slow hash.
 *
 * A call's row stands in the table of changes, `audit_log`: who did what is one question. It
 * holds a hash of the arguments, never the arguments. A call that writes several elements, or
 * is tried again, has one row: `call_id` sees to it.
 */
import { type Kysely, sql } from "kysely";

export const breaking = false;

const STATEMENTS: readonly string[] = [
  `create table api_tokens (
     id text primary key,
     secret_sha256 text not null,
     name text not null,
     capabilities text[] not null,
     -- Items whose subtrees it sees; null: everything.
     root_ids uuid[],
     pinned_root uuid,
     agent text,
     created_at timestamptz not null default muster_now(),
     created_by text,
     expires_at timestamptz not null,
     last_used_at timestamptz,
     rotated_at timestamptz,
     revoked_at timestamptz,
     revoked_by text,
     revoke_reason text
   )`,
  `alter table audit_log
     add column call_id uuid,
     add column credential text,
     add column operation text,
     add column args_sha256 text,
     add column outcome text check (outcome in ('ok', 'partial', 'refused', 'failed')),
     add column error_code text,
     add column latency_ms integer,
     add column request_id text`,
  `create unique index audit_log_call on audit_log (call_id) where call_id is not null`,
  // For letting go of old rows; they come in this order.
  `create index audit_log_at on audit_log using brin (at)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
