/**
 * A migrated embedded database to start from. Making one from nothing takes seconds (it runs
 * initdb in WebAssembly), loading a copy takes half of one; so the first test file of a run makes
 * the copy, in the run's folder, and the others load it.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PGlite } from "@electric-sql/pglite";
import { Kysely } from "kysely";
import { createPgliteDialect } from "../../db/dialects/pglite.ts";
import { startPglite } from "../../db/dialects/start-pglite.ts";
import { migrate } from "../../db/migrate.ts";
import type { OpenDatabase } from "../../db/open.ts";
import type { Database } from "../../db/schema.ts";
import { installTestClock } from "../../db/test-clock.ts";
import { testFolder } from "./run.ts";
import { administer } from "./template-database.ts";

const SNAPSHOT_LOCK = 7_264_119;

/** A fresh, migrated database in memory, with the test clock. */
export async function openEmbedded(): Promise<OpenDatabase> {
  const folder = testFolder();
  if (folder === undefined) return wrap(await makeEmbedded());
  const path = join(folder, "embedded.tar");
  if (!existsSync(path)) await makeSnapshot(path);
  return wrap(await startPglite({ loadDataDir: new Blob([readFileSync(path)]) }));
}

async function makeSnapshot(path: string): Promise<void> {
  await administer(async (client) => {
    await client.query("select pg_advisory_lock($1)", [SNAPSHOT_LOCK]);
    if (existsSync(path)) return;
    const pglite = await makeEmbedded();
    const dump = await pglite.dumpDataDir("none");
    await pglite.close();
    writeFileSync(`${path}.draft`, Buffer.from(await dump.arrayBuffer()));
    renameSync(`${path}.draft`, path);
  });
}

async function makeEmbedded(): Promise<PGlite> {
  const pglite = await startPglite();
  const db = new Kysely<Database>({ dialect: createPgliteDialect(pglite) });
  await migrate(db);
  await installTestClock(db);
  return pglite;
}

function wrap(pglite: PGlite): OpenDatabase {
  const db = new Kysely<Database>({ dialect: createPgliteDialect(pglite) });
  return { db, kind: "pglite", poolUse: () => null, close: () => db.destroy() };
}
