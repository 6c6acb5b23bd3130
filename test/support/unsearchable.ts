import { type Kysely, sql } from "kysely";
import type { Database } from "../../db/schema.ts";

/** Plants many items without the texts that search looks through, which take most of the time, for what searches nothing. */
export async function unsearchable<T>(db: Kysely<Database>, plant: () => Promise<T>): Promise<T> {
  await sql`alter table items disable trigger items_searchable`.execute(db);
  try {
    return await plant();
  } finally {
    await sql`alter table items enable trigger items_searchable`.execute(db);
  }
}
