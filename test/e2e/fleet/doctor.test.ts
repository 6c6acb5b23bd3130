/** `muster doctor` on real servers that have a fault planted each: it names the fault, and how to mend it. */
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { Redis } from "ioredis";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../../db/open.ts";
import { migrate } from "../../../db/migrate.ts";
import { VERSION } from "../../../services/runtime/version.ts";
import { createClient } from "../../../services/worker-sdk/client.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { plantItem } from "../../support/fixtures.ts";
import { isReady } from "../../support/fleet.ts";
import { startPostgres } from "../../support/postgres-server.ts";
import { type MusterEnv, type MusterProcess, runMuster, spawnMuster } from "../../support/processes.ts";
import { type RedisServer, startRedis } from "../../support/redis-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";

interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly mend?: string;
}

let database: TestDatabase;
let redis: RedisServer;
let api: MusterProcess;
let scheduler: MusterProcess;
let env: MusterEnv;

beforeAll(async () => {
  database = await createTestDatabase({ kind: "pg" });
  redis = await startRedis();
  env = { MUSTER_DATABASE_URL: database.url, MUSTER_REDIS_URL: redis.url, MUSTER_PORT: "0" };
  [api, scheduler] = await Promise.all([spawnMuster(["api"], env), spawnMuster(["scheduler"], env)]);
  await until(() => isReady(api), 30_000);
  await until(async () => (await processes()).length === 2, 30_000);
});
afterAll(async () => {
  await Promise.all([api?.kill(), scheduler?.kill()]);
  await redis?.stop();
  await database?.close();
});

const processes = async (): Promise<string[]> =>
  (await database.db.selectFrom("processes").select("kind").execute()).map((row) => row.kind);

const skews = async (): Promise<number[]> =>
  (await database.db.selectFrom("processes").select("skew_ms").execute()).map((row) => row.skew_ms);

/** A process of another machine, for the next minute. */
async function plantProcess(about: {
  version?: string;
  pool_busy?: number;
  pool_waiting?: number;
}): Promise<void> {
  const kind = { kind: "api", version: VERSION, config: null, host: "elsewhere", pid: 1, skew_ms: 0 };
  const pool = { pool_max: 10, pool_busy: 0, pool_waiting: 0 };
  const seen = { seen_at: sql<Date>`now() + interval '1 minute'` };
  await database.db
    .insertInto("processes")
    .values({ id: randomUUID(), ...kind, ...pool, ...about, ...seen })
    .execute();
}

/** What the doctor finds wrong, and that it ends with 1 when that is anything. */
async function faults(overrides: MusterEnv = {}, args: readonly string[] = []): Promise<Finding[]> {
  const { code, stdout, stderr } = await runMuster(["doctor", "--json", ...args], { ...env, ...overrides });
  expect(stderr).toBe("");
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: Finding[] };
  const wrong = findings.filter((finding) => !finding.ok);
  expect([code, ok]).toEqual(wrong.length === 0 ? [0, true] : [1, false]);
  for (const finding of wrong) expect(finding.mend).toMatch(/\w/);
  return wrong;
}

// Each run of the command makes an empty database to compare with, which a busy machine takes its time for.
describe("the doctor", { timeout: 300_000 }, () => {
  it("finds nothing wrong with a fleet that is well", async () => {
    expect(await faults()).toEqual([]);
  });

  it("1: a bad address, malformed or answered by nobody, without telling the password", async () => {
    const malformed = await faults({ MUSTER_DATABASE_URL: "http://db.example/muster" });
    expect(malformed).toMatchObject([{ check: "config" }]);
    expect(malformed[0]?.detail).toContain("MUSTER_DATABASE_URL");
    const away = await faults({ MUSTER_DATABASE_URL: "postgres://muster:geheim@127.0.0.1:1/muster" });
    expect(away).toMatchObject([{ check: "database" }]);
    expect(away[0]?.mend).toContain("MUSTER_DATABASE_URL");
    expect(JSON.stringify(away)).not.toContain("geheim");
    expect(await faults({ MUSTER_REDIS_URL: "redis://127.0.0.1:1" })).toMatchObject([{ check: "redis" }]);
  });

  it("2: a schema that a newer version made", async () => {
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '')`.execute(database.db);
    const found = await faults();
    await sql`delete from kysely_migration where name = '9999-later'`.execute(database.db);
    expect(found).toMatchObject([{ check: "schema" }]);
    expect(found[0]?.detail).toContain("9999-later");
    expect(found[0]?.mend).toContain("newer version");
  });

  it("3: a missing index, and what the doctor says to run brings it back", async () => {
    await sql`drop index item_state_ready_rank`.execute(database.db);
    const found = await faults();
    expect(found).toMatchObject([{ check: "indexes" }]);
    expect(found[0]?.detail).toContain("item_state_ready_rank");
    const statement = /CREATE INDEX [^;]+;/.exec(found[0]?.mend ?? "")?.[0] ?? "";
    await sql.raw(statement).execute(database.db);
    expect(await faults()).toEqual([]);
  });

  it("3: a trigger that is disabled", async () => {
    await sql`alter table items disable trigger items_copy`.execute(database.db);
    const found = await faults();
    await sql`alter table items enable trigger items_copy`.execute(database.db);
    expect(found).toMatchObject([{ check: "indexes" }]);
    expect(found[0]?.detail).toContain("items_copy");
  });

  it("4: a changed copy in item_state, which it mends when it is told to", async () => {
    const item = await plantItem(database.db, { title: "copied", tags: ["red"] });
    await sql`update item_state set tags = '{blue}' where item_id = ${item}`.execute(database.db);
    const found = await faults();
    expect(found).toMatchObject([{ check: "copies" }]);
    expect(found[0]?.detail).toContain(item);
    expect(await faults({}, ["--repair"])).toEqual([]);
    const { tags } = await database.db
      .selectFrom("item_state")
      .select("tags")
      .where("item_id", "=", item)
      .executeTakeFirstOrThrow();
    expect(tags).toEqual(["red"]);
  });

  it("5: a Redis that evicts", async () => {
    await using evicting = await startRedis({ settings: { "maxmemory-policy": "allkeys-lru" } });
    const found = await faults({ MUSTER_REDIS_URL: evicting.url });
    expect(found).toMatchObject([{ check: "redis" }]);
    expect(found[0]?.mend).toContain("noeviction");
  });

  it("6: a Redis that was wiped while a claim was alive", async () => {
    await plantItem(database.db, { title: "held" });
    const client = createClient({ url: api.url, agent: { id: "ada", kind: "subagent" } });
    const { claim } = await client.claim({ selector: {}, ttlSeconds: 600 });
    expect(claim.outcome).toBe("success");
    const wiping = new Redis(redis.url);
    await wiping.flushall();
    wiping.disconnect();
    const found = await faults();
    expect(found).toMatchObject([{ check: "redis memory" }]);
    expect(found[0]?.detail).toContain("1 claim is older");
    if (claim.outcome === "success") {
      const { itemId, fence } = claim;
      await client.call("claim_item", { requestId: randomUUID(), releases: [{ itemId, fence }] });
    }
    client.close();
  });

  it("7: a clock that is off by 30 s, here and on the servers", async () => {
    await database.advance(30_000);
    await until(async () => (await skews()).every((ms) => ms < -25_000), 30_000);
    const found = await faults();
    await database.advance(-30_000);
    await until(async () => (await skews()).every((ms) => Math.abs(ms) < 5_000), 30_000);
    const clock = found.find((finding) => finding.check === "clock");
    expect(clock?.detail.match(/(api|scheduler|machine)[^;]* is \d+ s behind/g)).toHaveLength(3);
    expect(clock?.mend).toContain("NTP");
  });

  it("8: no scheduler", async () => {
    await scheduler.stop();
    const found = await faults();
    expect(found).toMatchObject([{ check: "scheduler" }]);
    expect(found[0]?.mend).toContain("muster scheduler");
    scheduler = await spawnMuster(["scheduler"], env);
    await until(async () => (await processes()).includes("scheduler"), 30_000);
  });

  it("9: a sweep that is behind: late, or leaving claims that lapsed", async () => {
    await using other = await createTestDatabase({ kind: "pg" });
    const where = { MUSTER_DATABASE_URL: other.url };
    await sql`insert into sweeps (name, ran_at, freed) values ('claims', now() - interval '10 minutes', 0)`.execute(
      other.db,
    );
    const late = await faults(where);
    expect(late).toMatchObject([{ check: "sweep" }]);
    expect(late[0]?.detail).toMatch(/6\d\d s ago/);
    const item = await plantItem(other.db, { claim: { agent: "ada", ttlSeconds: 60 } });
    await sql`update item_state set expires_at = now() - interval '1 hour' where item_id = ${item}`.execute(
      other.db,
    );
    expect(await faults(where)).toMatchObject([
      { check: "sweep", detail: expect.stringMatching(/nobody has freed: 1,/) as string },
    ]);
  });

  it("10: mixed configurations, and mixed versions", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "other.yaml");
    writeFileSync(file, "on_cancelled: release\n");
    const second = await spawnMuster(["api"], { ...env, MUSTER_CONFIG: file });
    await until(async () => (await processes()).length === 3, 30_000);
    const mixed = await faults();
    await second.stop();
    expect(mixed.map((finding) => finding.check)).toContain("processes");
    expect(mixed.find(({ check }) => check === "processes")?.detail).toContain("configuration files");
    await sql`update muster_settings set value = 'none' where name = 'server_config'`.execute(database.db);
    await plantProcess({ version: "0.0.1" });
    const old = await faults();
    await database.db.deleteFrom("processes").where("version", "=", "0.0.1").execute();
    expect(old).toMatchObject([{ check: "processes" }]);
    expect(old[0]?.detail).toContain("0.0.1");
  });

  it("11: a configuration file that is no YAML", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "broken.yaml");
    writeFileSync(file, "schemas: [unclosed\n");
    const found = await faults({ MUSTER_CONFIG: file });
    expect(found).toMatchObject([{ check: "config file" }]);
    expect(found[0]?.detail).toContain("broken.yaml");
  });

  it("12: a full pool: of PostgreSQL, nearly and wholly, and of a process", async () => {
    await using server = await startPostgres({
      settings: { max_connections: "16", superuser_reserved_connections: "0" },
    });
    const fresh = await openDatabase({ url: server.url });
    await migrate(fresh.db);
    await fresh.close();
    const where = { MUSTER_DATABASE_URL: server.url };
    const clients: Client[] = [];
    const take = async (count: number): Promise<void> => {
      for (let taken = 0; taken < count; taken += 1) {
        const client = new Client({ connectionString: server.url });
        client.on("error", () => {});
        await client.connect();
        clients.push(client);
      }
    };
    await take(14);
    expect(await faults(where)).toMatchObject([
      { check: "pool", detail: expect.stringMatching(/of the 16 connections/) as string },
    ]);
    await take(2);
    expect(await faults(where)).toMatchObject([
      { check: "pool", detail: expect.stringMatching(/no connection left/) as string },
    ]);
    await Promise.all(clients.map((client) => client.end()));
    await plantProcess({ pool_busy: 10, pool_waiting: 7 });
    const found = await faults();
    expect(found).toMatchObject([
      { check: "pool", detail: expect.stringMatching(/lets 7 calls wait/) as string },
    ]);
  });

  it("tells people the same, each fault with how to mend it below", async () => {
    const { code, stdout } = await runMuster(["doctor"], { ...env, MUSTER_REDIS_URL: "redis://127.0.0.1:1" });
    expect(code).toBe(1);
    expect(stdout).toMatch(/!! +redis +not reachable\n +-> Check that it runs, and MUSTER_REDIS_URL/);
    expect(stdout).toMatch(/ok +schema +current/);
  });
});
