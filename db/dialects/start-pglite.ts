/** Starts the embedded database with the extensions that the schema needs; a folder that has them opens with them only. */
import { PGlite, type PGliteOptions } from "@electric-sql/pglite";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";

export async function startPglite(
  options: Pick<PGliteOptions, "dataDir" | "loadDataDir"> = {},
): Promise<PGlite> {
  return await PGlite.create({ ...options, extensions: { pg_trgm } });
}
