/** Whom a review is not offered to, since they did what it must be independent of. */
import { type Kysely, sql } from "kysely";

export const breaking = false;

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table item_state add column review_excludes text[]`.execute(db);
}
