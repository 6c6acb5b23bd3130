/** What events carry for those who follow them: the trace of the call that caused them. */
import { type Kysely, sql } from "kysely";

export const breaking = false;

const STATEMENTS: readonly string[] = [
  // As in the header `traceparent`; null when the caller sent none.
  `alter table events add column traceparent text`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
