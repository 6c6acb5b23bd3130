/** Two API and two scheduler processes on one PostgreSQL and one Redis. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient, type Client } from "../../../services/worker-sdk/client.ts";
import { createFleet, type Fleet, isReady } from "../../support/fleet.ts";
import { type MusterProcess, runMuster } from "../../support/processes.ts";
import { until } from "../../support/until.ts";

const TTL_SECONDS = 60;

let fleet: Fleet;
let a: MusterProcess;
let b: MusterProcess;
const clients: Client[] = [];

beforeAll(async () => {
  fleet = await createFleet();
  [a, b] = await Promise.all([fleet.api(), fleet.api()]);
  await until(async () => (await isReady(a)) && (await isReady(b)), 60_000);
});
afterAll(async () => {
  for (const client of clients) client.close();
  await fleet?.[Symbol.asyncDispose]();
});

function clientOf(server: MusterProcess, id: string): Client {
  const client = createClient({ url: `${server.url}/mcp?toolset=all`, agent: { id, kind: "subagent" } });
  clients.push(client);
  return client;
}

/** One item, held by somebody who is never heard of again. */
async function abandonedItem(tag: string): Promise<string> {
  const client = clientOf(a, `holder of ${tag}`);
  await client.call("manage_items", { operation: "create", items: [{ title: tag, tags: tag }] });
  const { claim } = await client.claim({ selector: { tags: tag }, start: true, ttlSeconds: TTL_SECONDS });
  if (claim.outcome !== "success") throw new Error(`Nothing was claimed: ${claim.outcome}`);
  return claim.itemId;
}

async function holdersOf(server: MusterProcess): Promise<Record<string, string>> {
  const response = await fetch(`${server.url}/api/v1/claims?limit=100`);
  const { claims } = (await response.json()) as { claims: { itemId: string; agent: string }[] };
  return Object.fromEntries(claims.map(({ itemId, agent }) => [itemId, agent]));
}

async function roleOf(itemId: string): Promise<unknown> {
  const answer = await clientOf(b, "observer").call("query_items", { operation: "get", itemId });
  return "role" in answer ? answer.role : undefined;
}

/** Until the sweep has put the item back, which also says that nobody claimed it. */
async function isFreed(itemId: string): Promise<boolean> {
  return (await roleOf(itemId)) === "queue" && !(itemId in (await holdersOf(b)));
}

describe("a fleet", () => {
  it("sees a claim that was made through one API through the other, and ends it there", async () => {
    const holder = clientOf(a, "alice");
    await holder.call("manage_items", { operation: "create", items: [{ title: "shared", tags: "shared" }] });
    const { claim } = await holder.claim({ selector: { tags: "shared" }, start: true });
    if (claim.outcome !== "success") throw new Error(claim.outcome);
    expect((await holdersOf(b))[claim.itemId]).toBe("alice");
    const elsewhere = createClient({ url: b.url, agent: holder.agent, workerId: holder.workerId });
    clients.push(elsewhere);
    await elsewhere.advance({ itemId: claim.itemId, trigger: "complete", fence: claim.fence });
    expect(await holdersOf(a)).not.toHaveProperty(claim.itemId);
  });

  it("knows sessions that another API signed, without having been given a key", async () => {
    const initialize = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
    };
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const signed = await fetch(`${a.url}/mcp`, { method: "POST", headers, body: JSON.stringify(initialize) });
    const session = signed.headers.get("mcp-session-id") ?? "";
    const listed = await fetch(`${b.url}/mcp`, {
      method: "POST",
      headers: { ...headers, "mcp-session-id": session },
      body: JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list" }),
    });
    expect(listed.status).toBe(200);
    const foreign = await fetch(`${b.url}/mcp`, {
      method: "POST",
      headers: { ...headers, "mcp-session-id": session.slice(0, -3) },
      body: JSON.stringify({ jsonrpc: "2.0", id: 3, method: "tools/list" }),
    });
    expect(foreign.status).not.toBe(200);
  });

  it("frees lapsed claims by the APIs' own sweep while no scheduler runs", async () => {
    const itemId = await abandonedItem("no-scheduler");
    await fleet.advance(3 * TTL_SECONDS * 1_000);
    await until(() => isFreed(itemId), 30_000);
  });

  it("frees lapsed claims by its schedulers, also while one of two is frozen, and thaws it without harm", async () => {
    const [one, other] = await Promise.all([fleet.scheduler(), fleet.scheduler()]);
    const first = await abandonedItem("two-schedulers");
    await fleet.advance(3 * TTL_SECONDS * 1_000);
    await until(() => isFreed(first), 30_000);

    one.pause();
    const second = await abandonedItem("frozen-scheduler");
    await fleet.advance(3 * TTL_SECONDS * 1_000);
    await until(() => isFreed(second), 30_000);
    one.resume();

    const third = await abandonedItem("thawed-scheduler");
    await fleet.advance(3 * TTL_SECONDS * 1_000);
    await until(() => isFreed(third), 30_000);
    for (const scheduler of [one, other]) expect((await scheduler.stop()).code).toBe(0);
  });

  it("on SIGTERM an API answers a claim that waits, says that it leaves, and ends with 0", async () => {
    const leaving = await fleet.api();
    await until(() => isReady(leaving), 60_000);
    const client = clientOf(leaving, "patient");
    const waiting = client.claim({ selector: { tags: "never" }, waitSeconds: 50 });
    waiting.catch(() => undefined);
    await until(async () => (await client.call("get_next_item", {})) !== undefined);
    const ending = await leaving.stop("SIGTERM");
    expect(ending.code).toBe(0);
    expect(ending.afterMs).toBeLessThan(15_000);
    expect((await waiting).claim.outcome).not.toBe("success");
  });
});

describe("a process of a fleet that cannot serve", () => {
  it("names what is missing from its configuration, all of it, with 78", async () => {
    for (const role of ["api", "scheduler"]) {
      const refused = await runMuster([role], { MUSTER_LOG_LEVEL: "loud" });
      expect(refused.code).toBe(78);
      for (const name of ["MUSTER_DATABASE_URL", "MUSTER_REDIS_URL", "MUSTER_LOG_LEVEL"])
        expect(refused.stderr).toContain(name);
    }
  });
});
