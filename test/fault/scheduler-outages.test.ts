/** A fleet whose Redis and Postgres are stopped, wiped and started again. */
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { migrate } from "../../db/migrate.ts";
import { openDatabase } from "../../db/open.ts";
import { createClient, type Client } from "../../services/worker-sdk/client.ts";
import { createFleet, type Fleet, isReady, readiness } from "../support/fleet.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { type MusterProcess, spawnMuster } from "../support/processes.ts";
import { until } from "../support/until.ts";

const TTL_SECONDS = 3;

let postgres: PostgresServer;
let fleet: Fleet;
let api: MusterProcess;
let scheduler: MusterProcess;
let client: Client;

beforeAll(async () => {
  postgres = await startPostgres();
  const { db, close } = await openDatabase({ url: postgres.url, poolSize: 1 });
  await migrate(db);
  await close();
  fleet = await createFleet({ databaseUrl: postgres.url });
  [api, scheduler] = await Promise.all([fleet.api(), fleet.scheduler()]);
  client = createClient({ url: `${api.url}/mcp?toolset=all`, agent: { id: "planner", kind: "user" } });
  await until(() => isReady(api), 60_000);
});
afterAll(async () => {
  client?.close();
  await fleet?.[Symbol.asyncDispose]();
  await postgres?.close();
});

/** Claims an item and forgets it; a sweep has to free it. */
async function abandon(tag: string): Promise<() => Promise<boolean>> {
  await client.call("manage_items", { operation: "create", items: [{ title: tag, tags: tag }] });
  const { claim } = await client.forWorker(`worker-${tag}`).claim({
    selector: { tags: tag },
    start: true,
    ttlSeconds: TTL_SECONDS,
  });
  if (claim.outcome !== "success") throw new Error(`Nothing was claimed: ${claim.outcome}`);
  const { itemId } = claim;
  return async () => {
    const item = await client.call("query_items", { operation: "get", itemId });
    return "role" in item && item.role === "queue";
  };
}

describe("a fleet", () => {
  it("whose Redis stops is degraded, says so, goes on claiming and sweeping, and recovers by itself", async () => {
    await fleet.redis.kill();
    await until(async () => (await readiness(api))?.degraded?.includes("redis") === true, 30_000);
    expect(await readiness(api)).toMatchObject({
      status: 200,
      ready: true,
      checks: { redis: { ok: false } },
    });
    const isFreed = await abandon("redis-away");
    await until(isFreed, 30_000);
    await fleet.redis.restart();
    await until(async () => {
      const answer = await readiness(api);
      return answer?.ready === true && answer.degraded === undefined;
    }, 30_000);
  });

  it("whose Redis is wiped registers within seconds what it had registered, and frees what lapses", async () => {
    await client.call("manage_items", { operation: "create", items: [{ title: "long", tags: "long" }] });
    const holder = client.forWorker("worker-long");
    const { claim } = await holder.claim({ selector: { tags: "long" }, ttlSeconds: 600 });
    const redis = new Redis(fleet.redis.url);
    const registered = async (): Promise<boolean> =>
      (await redis.zcard("muster:muster-instants:delayed")) > 0;
    await until(registered, 30_000);
    await redis.flushall();
    expect(await registered()).toBe(false);
    await until(registered, 30_000);
    redis.disconnect();
    await holder.release([{ itemId: claim.itemId ?? "" }]);
    await until(await abandon("redis-wiped"), 30_000);
  });

  it("whose Postgres is killed says so, crashes nowhere, and recovers by itself with what it had", async () => {
    const isFreed = await abandon("postgres-killed");
    await postgres.kill();
    await until(async () => (await readiness(api))?.checks["database"]?.ok === false, 30_000);
    expect(await readiness(api)).toMatchObject({ status: 503, ready: false });
    expect((await fetch(`${api.url}/livez`)).status).toBe(200);
    await postgres.start();
    await until(() => isReady(api), 60_000);
    await until(isFreed, 60_000);
    for (const one of [api, scheduler]) expect(() => process.kill(one.pid, 0)).not.toThrow();
  });

  it("that starts before its Postgres and its Redis says what it waits for, and serves once they are there", async () => {
    await postgres.stop();
    await fleet.redis.kill();
    const earlyScheduler = spawnMuster(["scheduler"], fleet.env);
    await using early = await spawnMuster(["api"], fleet.env);
    await until(async () => (await readiness(early)) !== null, 30_000);
    expect(await readiness(early)).toMatchObject({
      status: 503,
      checks: { process: { reason: "starting" }, database: { ok: false }, redis: { ok: false } },
    });
    const refused = await fetch(`${early.url}/api/v1/claims`);
    expect(refused.status).toBe(503);
    expect(early.output.stderr).toContain("not reachable, trying again");
    await postgres.start();
    await until(async () => (await readiness(early))?.degraded?.includes("redis") === true, 60_000);
    await fleet.redis.restart();
    await until(async () => {
      const answer = await readiness(early);
      return answer?.ready === true && answer.degraded === undefined;
    }, 30_000);
    expect((await fetch(`${early.url}/api/v1/claims`)).status).toBe(200);
    expect((await (await earlyScheduler).stop()).code).toBe(0);
    await until(() => isReady(api), 60_000);
  });
});
