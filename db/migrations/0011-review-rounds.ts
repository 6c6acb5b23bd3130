/** How often a review has sent an item back since it was opened: past its limit, a person decides. */
import { type Kysely, sql } from "kysely";

export const breaking = false;

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table item_state add column review_rounds int not null default 0`.execute(db);
}
