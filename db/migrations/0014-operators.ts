/** What operators need: agents that take nothing new, lists that do not read whole tables, and who serves. */
import { type Kysely, sql } from "kysely";

export const breaking = false;

const STATEMENTS: readonly string[] = [
  `create table agent_drains (
     agent text primary key,
     reason text not null,
     drained_at timestamptz not null default muster_now(),
     drained_by text,
     actor jsonb,
     verification jsonb
   )`,
  // The processes that serve this database, each with a row that it writes every few seconds.
  `create unlogged table processes (
     id uuid primary key,
     kind text not null,
     version text not null,
     config text,
     host text not null,
     pid int not null,
     started_at timestamptz not null default now(),
     seen_at timestamptz not null default now(),
     skew_ms int not null,
     pool_max int,
     pool_busy int,
     pool_waiting int
   )`,
  // How an agent's latest attempts ended. The end itself is not in it: ending an attempt stays a change
  // that no index has to follow.
  `create index attempts_agent on attempts (agent, claimed_at)`,
  // A claim never touches a row that is in here.
  `create index item_state_dead on item_state (role_changed_at, item_id) where dead`,
  `create index trash_root on trash (root_id, deleted_at)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
