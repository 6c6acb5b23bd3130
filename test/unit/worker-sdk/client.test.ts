import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { schemasOf } from "../../../services/contract/json-schema.ts";
import { OPERATIONS } from "../../../services/contract/registry.ts";
import { ConnectionError, MusterClientError } from "../../../services/worker-sdk/errors.ts";
import { createClient, type ClientOptions } from "../../../services/worker-sdk/client.ts";
import { startFakeMuster, type FakeMuster } from "../../support/fake-muster/fake-muster.ts";

const agent = { id: "tester", kind: "subagent" } as const;

function clientOf(fake: FakeMuster, options: Partial<ClientOptions> = {}) {
  return createClient({ url: fake.url, agent, timeoutMs: 2_000, ...options });
}

/** An address where nobody listens. */
async function deadUrl(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

describe("client", () => {
  it("claims an item, renews it, and hands it in with the next one in the same call", async () => {
    await using fake = await startFakeMuster();
    const [first, second] = [fake.fleet.add("first"), fake.fleet.add("second")];
    const client = clientOf(fake);
    const { claim, workerId } = await client.claim({ selector: {}, ttlSeconds: 30, start: true });
    expect(claim).toMatchObject({ outcome: "success", itemId: first.id, fence: 1 });
    expect(workerId).toBe(client.workerId);

    const { results } = await client.refresh([{ itemId: first.id, fence: 1 }]);
    expect(results).toMatchObject([{ outcome: "success" }]);

    const answer = await client.advance({
      itemId: first.id,
      trigger: "complete",
      fence: 1,
      claimNext: { selector: {} },
    });
    expect(answer.results).toMatchObject([{ applied: true, newRole: "terminal" }]);
    expect(answer.next).toMatchObject({ outcome: "success", itemId: second.id });
    client.close();
  });

  it("goes on with a claim from another process by its workerId [P-07]", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("only");
    const before = clientOf(fake);
    await before.claim({ selector: {} });
    before.close();
    const after = clientOf(fake, { workerId: before.workerId });
    expect(await after.refresh([{ itemId: item.id, fence: 1 }])).toMatchObject({
      results: [{ outcome: "success" }],
    });
    expect(await after.release([{ itemId: item.id, fence: 1 }])).toMatchObject([{ outcome: "success" }]);
    after.close();
  });

  it("repeats a call whose answer was lost with the same requestId, and claims nothing twice", async () => {
    await using fake = await startFakeMuster();
    fake.fleet.add("first");
    const second = fake.fleet.add("second");
    fake.fault = () => (fake.calls.length === 0 ? { kind: "dropAnswer" } : undefined);
    const client = clientOf(fake);
    const answer = await client.claim({ selector: {} });
    expect(answer).toMatchObject({ replayed: true, claim: { outcome: "success", fence: 1 } });
    expect(second.holder).toBeNull();
    expect(new Set(fake.calls.map(({ input }) => input["requestId"])).size).toBe(1);
    client.close();
  });

  it("counts the trust window from before the first of several tries", async () => {
    await using fake = await startFakeMuster();
    fake.fleet.add("only");
    fake.fault = () => (fake.calls.length < 3 ? { kind: "http", status: 502 } : undefined);
    const client = clientOf(fake);
    const beforeMs = Number(process.hrtime.bigint()) / 1e6;
    const calling = client.claim({ selector: {} });
    const afterSendMs = Number(process.hrtime.bigint()) / 1e6;
    const { firstTryAtMs } = await calling;
    expect(firstTryAtMs).toBeGreaterThanOrEqual(beforeMs);
    expect(firstTryAtMs).toBeLessThanOrEqual(afterSendMs);
    client.close();
  });

  it("moves to the next server when one is down, and stays there", async () => {
    await using fake = await startFakeMuster();
    const client = createClient({ urls: [await deadUrl(), fake.url], agent });
    for (let round = 0; round < 3; round += 1) await client.call("query_items", { operation: "search" });
    expect(fake.calls).toHaveLength(3);
    client.close();
  });

  it("moves on from a server that does not answer in time", async () => {
    await using silent = await startFakeMuster();
    await using fake = await startFakeMuster();
    silent.fault = () => ({ kind: "hang", acted: false });
    const client = createClient({ urls: [silent.url, fake.url], agent, timeoutMs: 100 });
    await client.call("query_items", { operation: "search" });
    expect(fake.calls).toHaveLength(1);
    client.close();
  });

  it("tells a server that cannot be reached from one that refuses", async () => {
    const url = await deadUrl();
    const client = createClient({ url, agent, retryForMs: 100 });
    const error: unknown = await client.claim({ selector: {} }).catch((thrown: unknown) => thrown);
    expect(ConnectionError.is(error) && error.tries > 1 && error.url.startsWith(url)).toBe(true);
    expect(MusterClientError.is(error)).toBe(false);
    client.close();
  });

  it("never repeats what was refused for good, and says what to do instead", async () => {
    await using fake = await startFakeMuster();
    fake.fault = () => ({ kind: "refuse", code: "rejected_by_policy" });
    const client = clientOf(fake);
    await expect(client.claim({ selector: {} })).rejects.toMatchObject({
      name: "MusterClientError",
      code: "rejected_by_policy",
      kind: "permanent",
      hint: expect.stringContaining("actor") as string,
    });
    expect(fake.calls).toHaveLength(1);
    client.close();
  });

  it("does not wait for somebody else's claim to end: that is for the caller to decide", async () => {
    await using fake = await startFakeMuster();
    fake.fault = () => ({ kind: "refuse", code: "item_held", retryAfterMs: 60_000 });
    const client = clientOf(fake);
    await expect(client.call("manage_items", { operation: "delete" })).rejects.toMatchObject({
      code: "item_held",
      retryAfterMs: 60_000,
    });
    expect(fake.calls).toHaveLength(1);
    client.close();
  });

  it("makes no call at all before the time that a shedding server asked for", async () => {
    await using fake = await startFakeMuster();
    const times: number[] = [];
    fake.fault = () => {
      times.push(performance.now());
      return times.length === 1 ? { kind: "refuse", code: "draining", retryAfterMs: 200 } : undefined;
    };
    const client = clientOf(fake);
    await expect(
      client.call("query_items", { operation: "search" }, { retryForMs: 0 }),
    ).rejects.toMatchObject({
      kind: "shedding",
      retryAfterMs: 200,
    });
    await expect(
      client.call("query_items", { operation: "search" }, { retryForMs: 0 }),
    ).rejects.toMatchObject({
      kind: "shedding",
    });
    await Promise.all([
      client.call("query_items", { operation: "search" }),
      client.call("query_items", { operation: "search" }),
    ]);
    const [refusedAt = 0, ...later] = times;
    expect(Math.min(...later) - refusedAt).toBeGreaterThan(195);
    client.close();
  });

  it("goes to another server at once when one drains", async () => {
    await using fake = await startFakeMuster();
    await using other = await startFakeMuster();
    fake.fault = () => ({ kind: "refuse", code: "draining", retryAfterMs: 60_000 });
    const client = createClient({ urls: [fake.url, other.url], agent });
    await client.call("query_items", { operation: "search" });
    expect([fake.calls.length, other.calls.length]).toEqual([1, 1]);
    client.close();
  });

  it("renews in batches of 100, and tells which of them are lost", async () => {
    await using fake = await startFakeMuster();
    const holder = { agent: agent.id, session: "a slot" };
    const items = Array.from({ length: 250 }, (_, index) =>
      fake.fleet.add(`item ${index}`, {
        role: "work",
        fence: 1,
        ttlSeconds: 60,
        holder,
        expiresAtMs: Date.now() + 60_000,
      }),
    );
    const gone = [items[3], items[120], items[249]].filter((item) => item !== undefined);
    for (const item of gone) fake.fleet.takeAway(item);
    const client = clientOf(fake);
    const { results } = await client.refresh(items.map(({ id }) => ({ itemId: id, fence: 1 })));
    expect(
      fake.calls.map(({ input }) => (input["refreshes"] as unknown[]).length).toSorted((a, b) => b - a),
    ).toEqual([100, 100, 50]);
    expect(results.map(({ itemId }) => itemId)).toEqual(items.map(({ id }) => id));
    expect(results.filter(({ outcome }) => outcome === "claim_lost").map(({ itemId }) => itemId)).toEqual(
      gone.map(({ id }) => id),
    );
    client.close();
  });

  it("stops a call when its signal aborts, and passes the reason on", async () => {
    await using fake = await startFakeMuster();
    const client = clientOf(fake);
    const stop = new AbortController();
    const waiting = client.claim({ selector: {}, waitSeconds: 50, signal: stop.signal });
    await fake.seen(({ what }) => what === "claim");
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    client.close();
  });

  it("keeps its connection between calls and closes it at the end", async () => {
    await using fake = await startFakeMuster();
    const client = clientOf(fake);
    for (let round = 0; round < 5; round += 1) await client.call("query_items", { operation: "search" });
    expect(fake.sockets.size).toBe(1);
    client.close();
    await new Promise<void>((resolve) => {
      const look = (): void => (fake.sockets.size === 0 ? resolve() : void setImmediate(look));
      look();
    });
  });

  it("fails calls in flight when it is closed, and opens no connection afterwards", async () => {
    await using fake = await startFakeMuster();
    const client = clientOf(fake);
    const waiting = client.claim({ selector: {}, waitSeconds: 50 });
    await fake.seen(({ what }) => what === "claim");
    client.close();
    await expect(waiting).rejects.toMatchObject({ name: "ConnectionError" });
    await expect(client.claim({ selector: {} })).rejects.toThrow("closed");
    expect(fake.calls).toHaveLength(1);
  });

  it("sends the token, who calls, and a key for what changes something, but none for what only reads", async () => {
    await using fake = await startFakeMuster();
    const client = clientOf(fake, { token: "muster_secret" });
    await client.call("manage_items", { operation: "create" });
    await client.call("get_next_item", { limit: 1 });
    expect(fake.calls[0]).toMatchObject({
      headers: { authorization: "Bearer muster_secret" },
      input: { actor: agent },
    });
    expect(fake.calls[0]?.input["requestId"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(fake.calls[1]?.input).toEqual({ limit: 1 });
    client.close();
  });

  it.each(OPERATIONS.filter(({ mcp }) => mcp))(
    "fills in for $name what it takes, and nothing else",
    async (operation) => {
      await using fake = await startFakeMuster();
      // Not answered: only what is sent matters.
      fake.fault = () => ({ kind: "refuse", code: "OPERATION_FAILED" });
      const client = clientOf(fake);
      await expect(client.call(operation.name, {})).rejects.toThrow("refused by the test");
      const sent = Object.keys(fake.calls[0]?.input ?? {});
      expect(sent).toEqual(operation.annotations.readOnlyHint ? [] : ["actor", "requestId"]);
      expect(Object.keys(schemasOf(operation).parsed.properties ?? {})).toEqual(expect.arrayContaining(sent));
      client.close();
    },
  );

  it("works through a fetch of the caller's", async () => {
    await using fake = await startFakeMuster();
    fake.fleet.add("only");
    const client = clientOf(fake, { fetch });
    expect(await client.claim({ selector: {} })).toMatchObject({ claim: { outcome: "success" } });
    client.close();
  });
});
