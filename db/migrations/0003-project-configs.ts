/**
 * The configuration that a project brings along, and what of an item its schema is found by.
 *
 * `history` holds the fingerprints that a project had, its own first: a text that is among
 * them and not the first is an old one, and storing it again would take back what came after.
 */
import { type Kysely, sql } from "kysely";

export const breaking = false;

const STATEMENTS: readonly string[] = [
  `create table project_configs (
     root_id uuid primary key references items (id) on delete cascade,
     config_yaml text not null,
     fingerprint text not null check (fingerprint ~ '^[0-9a-f]{64}$'),
     history text[] not null,
     updated_at timestamptz not null default muster_now(),
     updated_by text,
     actor jsonb,
     verification jsonb,
     check (history[1] = fingerprint)
   )`,

  // An item's schema follows from its type, its tags and its traits: all three are read with its state.
  `alter table item_state add column traits text[] not null default '{}'`,
  `update item_state s set traits = i.traits from items i where i.id = s.item_id and i.traits <> '{}'`,
  `create or replace function item_state_copy() returns trigger language plpgsql as $$
   begin
     update item_state s set
       root_id = new.root_id, parent_id = new.parent_id, ancestors = new.ancestors,
       rank = muster_rank(new.priority, new.complexity), priority = new.priority, complexity = new.complexity,
       type = new.type, tags = new.tags, traits = new.traits, needs = new.needs, assignee = new.assignee,
       modified_at = greatest(new.modified_at, s.modified_at)
     where s.item_id = new.id;
     return null;
   end $$`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
