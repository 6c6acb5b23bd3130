/**
 * Texts that hang on a project: plans, which a tree of work is made from once and then stay as
 * they were, and rules, whose slug starts with `rule/` and which are replaced at will.
 *
 * Who adopted a plan is forgotten with that item; that it was adopted is not.
 */
import { type Kysely, sql } from "kysely";

export const breaking = false;

const STATEMENTS: readonly string[] = [
  `create table plan_documents (
     id uuid primary key,
     root_id uuid not null references items (id) on delete cascade,
     slug text not null,
     body text not null,
     content_hash text not null check (content_hash ~ '^[0-9a-f]{64}$'),
     status text not null default 'pending' check (status in ('pending', 'adopted')),
     adopted_by uuid references items (id) on delete set null,
     created_at timestamptz not null default muster_now(),
     modified_at timestamptz not null default muster_now(),
     modified_by text,
     actor jsonb,
     verification jsonb,
     unique (root_id, slug),
     check (adopted_by is null or status = 'adopted')
   )`,
  // Deleting an item looks for the plans that it adopted.
  `create index plan_documents_adopted_by on plan_documents (adopted_by) where adopted_by is not null`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
