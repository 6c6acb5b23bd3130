/**
 * What a database of this version has: an empty one is made in memory and looked at. A list kept
 * by hand would fall behind the migrations, and blame databases for what nobody wrote down.
 */
import { migrate } from "./migrate.ts";
import { openDatabase } from "./open.ts";
import { listObjects, type SchemaObject } from "./stores/catalogue-store.ts";

/** Takes a second or two. */
export async function expectedObjects(): Promise<SchemaObject[]> {
  const fresh = await openDatabase({});
  try {
    await migrate(fresh.db);
    return await listObjects(fresh.db);
  } finally {
    await fresh.close();
  }
}
