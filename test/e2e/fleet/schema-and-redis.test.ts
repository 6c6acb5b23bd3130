/** What a process of a fleet checks before it serves: the schema of its database, the policy of its Redis. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isReady } from "../../support/fleet.ts";
import { type MusterEnv, runMuster, spawnMuster } from "../../support/processes.ts";
import { type RedisServer, startRedis } from "../../support/redis-server.ts";
import { administer, databasePrefix, urlOf } from "../../support/template-database.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";

const name = `${databasePrefix()}${randomBytes(6).toString("hex")}`;
let redis: RedisServer;
let env: MusterEnv;

beforeAll(async () => {
  await administer((client) => client.query(`create database ${name}`));
  redis = await startRedis();
  env = { MUSTER_DATABASE_URL: urlOf(name), MUSTER_REDIS_URL: redis.url, MUSTER_PORT: "0" };
});
afterAll(async () => {
  await redis.stop();
  await administer((client) => client.query(`drop database if exists ${name} with (force)`));
});

describe("a process of a fleet", () => {
  it("refuses a database without the schema, naming the command that makes it, with 78", async () => {
    for (const role of ["api", "scheduler"]) {
      const refused = await runMuster([role], env);
      expect(refused.code).toBe(78);
      expect(refused.stderr).toContain("muster migrate");
    }
  });

  it("serves after `muster migrate`, which says what it did and does nothing the second time", async () => {
    const first = await runMuster(["migrate", "--json"], env);
    expect(first.code).toBe(0);
    expect((JSON.parse(first.stdout) as { migrated: string[] }).migrated).not.toEqual([]);
    expect(JSON.parse((await runMuster(["migrate", "--json"], env)).stdout)).toEqual({ migrated: [] });
    await using api = await spawnMuster(["api"], env);
    await until(() => isReady(api), 30_000);
  });

  it("with another configuration file than the doctor finds is named by the doctor", async () => {
    using folder = temporaryFolder();
    const files = ["one.yaml", "two.yaml"].map((file) => join(folder.path, file));
    for (const file of files) writeFileSync(file, `on_cancelled: hold # ${file}\n`);
    const [one = "", two = ""] = files;
    await using api = await spawnMuster(["api"], { ...env, MUSTER_CONFIG: one });
    await until(() => isReady(api), 30_000);
    const same = await runMuster(["doctor"], { ...env, MUSTER_CONFIG: one });
    expect(same.stdout).toMatch(/ok +config file +.*one\.yaml/);
    const other = await runMuster(["doctor"], { ...env, MUSTER_CONFIG: two });
    expect(other.code).toBe(1);
    expect(other.stdout).toMatch(/!! +config file +.*two\.yaml .*the servers follow another/);
  });

  it("refuses a Redis that may evict keys, saying which setting to change, with 78", async () => {
    await using evicting = await startRedis({ settings: { "maxmemory-policy": "allkeys-lru" } });
    for (const role of ["api", "scheduler"]) {
      const refused = await runMuster([role], { ...env, MUSTER_REDIS_URL: evicting.url });
      expect(refused.code).toBe(78);
      expect(refused.stderr).toContain("noeviction");
    }
  });

  it("refuses a schema that a newer version made, and so does migrate, with 78", async () => {
    const client = new Client({ connectionString: urlOf(name) });
    await client.connect();
    await client.query("insert into kysely_migration (name, timestamp) values ('9999-from-the-future', '')");
    for (const command of ["api", "scheduler", "migrate"]) {
      const refused = await runMuster([command], env);
      expect(refused.code).toBe(78);
      expect(refused.stderr).toContain("9999-from-the-future");
    }
    await client.query("delete from kysely_migration where name = '9999-from-the-future'");
    await client.end();
  });
});
