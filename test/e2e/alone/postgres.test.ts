/** Alone on PostgreSQL, without Redis: one process and no second. */
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { isReady, readiness } from "../../support/fleet.ts";
import { startPostgres } from "../../support/postgres-server.ts";
import { type MusterEnv, runMuster, spawnMuster } from "../../support/processes.ts";
import { temporaryFolder, type TemporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";

let database: TestDatabase;
let folder: TemporaryFolder;
beforeAll(async () => {
  database = await createTestDatabase({ kind: "pg" });
  folder = temporaryFolder();
});
afterAll(async () => {
  await database.close();
  folder[Symbol.dispose]();
});

function env(directory: string): MusterEnv {
  return {
    MUSTER_DATA_DIR: `${folder.path}/${directory}`,
    MUSTER_DATABASE_URL: database.url,
    MUSTER_PORT: "0",
  };
}

describe("muster start on PostgreSQL without Redis", () => {
  it("is one process: a second one on the same database, from any directory, is refused with 69", async () => {
    await using server = await spawnMuster(["start"], env("one"));
    const second = await runMuster(["start"], env("two"));
    expect(second.code).toBe(69);
    expect(second.stderr).toContain("Another Muster already serves this database");
    expect(second.stderr).toContain("MUSTER_REDIS_URL");
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  });

  it("lets the next one in as soon as it is gone, even when it was killed", async () => {
    const first = await spawnMuster(["start"], env("one"));
    await first.kill();
    await using next = await spawnMuster(["start"], env("two"));
    expect((await fetch(`${next.url}/readyz`)).status).toBe(200);
  });

  it("does not wait for a database that PostgreSQL does not have, and ends with 78", async () => {
    const url = new URL(database.url ?? "");
    url.pathname = "/no_such_database";
    const refused = await runMuster(["start"], { ...env("three"), MUSTER_DATABASE_URL: url.href });
    expect(refused.code).toBe(78);
    expect(refused.stderr).toContain("MUSTER_DATABASE_URL");
  });

  it("takes its lock again when PostgreSQL was restarted, so that a second one is still refused", async () => {
    await using postgres = await startPostgres();
    const on = (directory: string): MusterEnv => ({ ...env(directory), MUSTER_DATABASE_URL: postgres.url });
    await using server = await spawnMuster(["start"], on("four"));
    await postgres.kill();
    await until(async () => (await readiness(server))?.checks["database"]?.ok === false, 30_000);
    await postgres.start();
    await until(() => isReady(server), 60_000);
    await until(async () => (await locksOf(postgres.url)) === 1, 30_000);
    const second = await runMuster(["start"], on("five"));
    expect([second.code, second.stderr]).toEqual([69, expect.stringContaining("Another Muster")]);
  });
});

async function locksOf(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rowCount } = await client.query("select from pg_locks where locktype = 'advisory' and granted");
  await client.end();
  return rowCount ?? 0;
}
