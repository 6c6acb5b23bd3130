/**
 * What an orchestrator waits for: the ends of the attempts that its subagents began.
 *
 * The clock does not put ends into the order in which they become visible: a transaction that
 * began earlier may commit later. A reader therefore goes by the number of the transaction that
 * ended an attempt, and by which of those it has seen.
 */
import { type Kysely, sql } from "kysely";

export const breaking = false;

const STATEMENTS: readonly string[] = [
  // Not indexed on purpose: ending an attempt stays a change that no index has to follow.
  `alter table attempts add column ended_xid xid8`,
  `create index attempts_dispatched on attempts (parent_agent, claimed_at) where parent_agent is not null`,
  // Transitions come in the order of their time, so a summary of page ranges finds the recent ones.
  `create index transitions_age on transitions using brin (at)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
