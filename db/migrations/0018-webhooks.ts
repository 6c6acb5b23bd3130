/**
 * Who is told of events by HTTP, and each telling. A delivery is made of the event when the
 * webhook's cursor passes it, in one transaction with the cursor: exactly one for each.
 */
import { type Kysely, sql } from "kysely";

export const breaking = false;

const STATEMENTS: readonly string[] = [
  `create table webhooks (
     id uuid primary key default gen_random_uuid(),
     url text not null,
     sealed_secret bytea not null,
     types text[],
     root_ids uuid[],
     -- Items whose subtrees its maker saw; null: everything.
     scope uuid[],
     cursor bigint not null,
     paused boolean not null default false,
     created_at timestamptz not null default muster_now(),
     created_by text
   )`,
  `create table deliveries (
     id uuid primary key default gen_random_uuid(),
     webhook_id uuid not null references webhooks (id) on delete cascade,
     seq bigint not null,
     item_id uuid,
     type text not null,
     body text not null,
     state text not null default 'pending' check (state in ('pending', 'delivered', 'dead', 'discarded')),
     tries int not null default 0,
     next_at timestamptz not null default muster_now(),
     -- Whoever sends it has it until then; after that it is tried by somebody else.
     taken_until timestamptz,
     last_status int,
     last_reason text,
     last_tried_at timestamptz,
     ended_at timestamptz,
     created_at timestamptz not null default muster_now(),
     unique (webhook_id, seq)
   )`,
  `create index deliveries_due on deliveries (next_at, seq) where state = 'pending'`,
  // What keeps a later one of the same item waiting.
  `create index deliveries_open on deliveries (webhook_id, item_id, seq) where state in ('pending', 'dead')`,
  `create index deliveries_ended on deliveries (ended_at) where state in ('delivered', 'discarded')`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
