/** What operators do over REST: claims, agents, attempts, dead items and the trash. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { plantItem } from "../../support/fixtures.ts";
import { type RestClient, type RestReply, restClient } from "../../support/rest-client.ts";
import { type RealServer, startTestServer } from "../../support/server.ts";

let server: RealServer;
let rest: RestClient;

beforeAll(async () => {
  server = await startTestServer({ database: "pglite" });
  rest = restClient(server);
});
afterAll(() => server.close());

const GONE = randomUUID();

const make = (title = "An item"): Promise<string> => plantItem(server.database.db, { title });

/** An item in work that this door's caller holds. */
async function hold(): Promise<{ id: string; fence: number; workerId: string }> {
  const id = await make("held");
  const { body, status } = await rest("POST /claims", { body: { itemId: id, start: true } });
  expect(status).toBe(200);
  return { id, ...(body as unknown as { fence: number; workerId: string }) };
}

const refused = ({ status, body }: RestReply): [number, string] => [status, body.error];
const key = (): Record<string, string> => ({ "idempotency-key": randomUUID() });

describe("claims", () => {
  it("are taken by id and by selector, with what a worker needs to go on", async () => {
    const id = await make("by id");
    const byId = await rest("POST /claims", { body: { itemId: id, ttlSeconds: 60, workerId: "w-1" } });
    expect(byId.body).toMatchObject({ itemId: id, fence: 1, workerId: "w-1", claimedBy: "api:local" });
    const other = await make("by selector");
    const best = await rest("POST /claims", {
      body: { selector: { orderBy: "newest" }, start: true, workerId: "w-2", include: "brief" },
    });
    expect(best.body).toMatchObject({ itemId: other, started: true, brief: {} });
  });

  it("are given once for a key, and replayed", async () => {
    const id = await make("once");
    const call = { body: { itemId: id }, headers: key() };
    const first = await rest("POST /claims", call);
    const again = await rest("POST /claims", call);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.body).toMatchObject({ itemId: id, replayed: true });
    expect((again.body as unknown as { fence: number }).fence).toBe(
      (first.body as unknown as { fence: number }).fence,
    );
  });

  it("are refused with the reason, and never with who holds the item", async () => {
    const { id } = await hold();
    const taken = await rest("POST /claims", { body: { itemId: id, workerId: "w-other" } });
    expect(refused(taken)).toEqual([409, "already_claimed"]);
    expect(taken.text).not.toContain("api:local");
    expect(refused(await rest("POST /claims", { body: { itemId: GONE } }))).toEqual([404, "not_found"]);
    expect(refused(await rest("POST /claims", { body: { selector: { tags: "nobody-has-this" } } }))).toEqual([
      404,
      "queue_empty",
    ]);
    expect(refused(await rest("POST /claims", { body: {} }))).toEqual([400, "validation_error"]);
  });

  it("are kept and given back in batches, each answered by itself", async () => {
    const { id, fence, workerId } = await hold();
    const refreshes = [
      { itemId: id, fence },
      { itemId: GONE, fence: 1 },
    ];
    const kept = await rest("POST /claims/refresh", { body: { workerId, refreshes } });
    expect(kept.body).toMatchObject({ refreshes: [{ outcome: "success" }, { outcome: "not_found" }] });
    const back = await rest("POST /claims/release", {
      body: { workerId, releases: [{ itemId: id, requeue: true }, { itemId: GONE }] },
      headers: key(),
    });
    expect(back.body).toMatchObject({
      releases: [{ outcome: "success", role: "queue" }, { outcome: "not_found" }],
    });
    const malformed = await rest("POST /claims/refresh", { body: { refreshes: [{ itemId: id }] } });
    expect(refused(malformed)).toEqual([400, "validation_error"]);
    expect(refused(await rest("POST /claims/release", { body: { releases: [] } }))).toEqual([
      400,
      "validation_error",
    ]);
  });

  it("are revoked with a reason: counted first, then ended, and the holder hears of it", async () => {
    const { id, fence, workerId } = await hold();
    const counted = await rest("POST /claims/revoke", {
      body: { itemIds: [id], reason: "stuck", dryRun: true },
    });
    expect(counted.body).toMatchObject({ matched: 1, dryRun: true, revoked: [] });
    const call = { body: { itemIds: [id], reason: "stuck" }, headers: key() };
    const done = await rest("POST /claims/revoke", call);
    expect(done.body).toMatchObject({ revoked: [{ itemId: id, requeued: true }], failed: 0 });
    expect((await rest("POST /claims/revoke", call)).headers.get("idempotency-replayed")).toBe("true");
    const beat = await rest("POST /claims/refresh", {
      body: { workerId, refreshes: [{ itemId: id, fence }] },
    });
    expect(beat.body).toMatchObject({ refreshes: [{ outcome: "claim_lost" }] });
    const attempts = await rest(`GET /items/${id}/attempts`);
    expect(attempts.body).toMatchObject({
      total: 1,
      attempts: [{ agent: "api:local", endReason: "revoked", detail: "stuck" }],
    });
  });

  it.each([
    ["without a reason", { all: true }],
    ["of nobody in particular", { reason: "x" }],
    ["with an unknown field", { all: true, reason: "x", everybody: true }],
  ])("are not revoked %s", async (_, body) => {
    expect(refused(await rest("POST /claims/revoke", { body }))).toEqual([400, "validation_error"]);
  });

  it("answers the attempts of an item that is not there with 404", async () => {
    expect(refused(await rest(`GET /items/${GONE}/attempts`))).toEqual([404, "not_found"]);
  });
});

describe("agents", () => {
  it("are drained and let go again, whatever is in their names", async () => {
    const path = `/agents/${encodeURIComponent("team/ada lovelace")}`;
    const drained = await rest(`POST ${path}/drain`, { body: { reason: "moves house" }, headers: key() });
    expect(drained.body).toMatchObject({ agent: "team/ada lovelace", drained: true, changed: true });
    const listed = await rest("GET /agents?drained=true");
    expect(listed.body).toMatchObject({
      agents: [{ agent: "team/ada lovelace", drainReason: "moves house" }],
    });
    const back = await rest(`POST ${path}/undrain`, { body: { reason: "has moved" } });
    expect(back.body).toMatchObject({ drained: false, changed: true });
    expect(refused(await rest(`POST ${path}/drain`, { body: {} }))).toEqual([400, "validation_error"]);
  });
});

describe("dead items", () => {
  const dead = (title: string): Promise<string> =>
    plantItem(server.database.db, { title, role: "blocked", previousRole: "queue", dead: true, attempts: 5 });

  it("are listed, replayed and discarded, one by one and in bulk", async () => {
    const [one, two] = [await dead("one"), await dead("two")];
    expect((await rest("GET /dead")).body).toMatchObject({ total: 2 });
    const counted = await rest("POST /dead/replay", { body: { all: true, reason: "fixed", dryRun: true } });
    expect(counted.body).toMatchObject({ matched: 2, items: [] });
    const replayed = await rest("POST /dead/replay", { body: { itemIds: [one], reason: "fixed" } });
    expect(replayed.body).toMatchObject({ items: [{ itemId: one, role: "queue" }] });
    const call = { body: { all: true, reason: "given up" }, headers: key() };
    const discarded = await rest("POST /dead/discard", call);
    expect(discarded.body).toMatchObject({ items: [{ itemId: two, role: "terminal" }] });
    expect((await rest("POST /dead/discard", call)).headers.get("idempotency-replayed")).toBe("true");
    const gone = await rest("POST /dead/discard", { body: { itemIds: [GONE], reason: "x" } });
    expect(gone.body).toMatchObject({ failed: 1, failures: [{ errorCode: "RESOURCE_NOT_FOUND" }] });
    expect(refused(await rest("POST /dead/replay", { body: { reason: "x" } }))).toEqual([
      400,
      "validation_error",
    ]);
    expect(refused(await rest(`GET /dead?ancestorId=${GONE.replaceAll("-", "").slice(0, 12)}`))).toEqual([
      404,
      "not_found",
    ]);
  });
});

describe("the trash", () => {
  it("is listed and restored from", async () => {
    const id = await make("thrown away");
    expect((await rest(`DELETE /items/${id}`)).status).toBe(204);
    const { body } = await rest("GET /trash");
    expect(body).toMatchObject({ entries: [{ itemId: id, title: "thrown away", items: 1 }] });
    const [entry] = (body as unknown as { entries: { trashId: string }[] }).entries;
    const restored = await rest("POST /trash/restore", {
      body: { trashIds: [entry?.trashId] },
      headers: key(),
    });
    expect(restored.body).toMatchObject({ ids: [id], restored: 1, failed: 0 });
    expect((await rest(`GET /items/${id}`)).status).toBe(200);
    const gone = await rest("POST /trash/restore", { body: { trashIds: [GONE] } });
    expect(gone.body).toMatchObject({ failed: 1 });
    expect(refused(await rest("POST /trash/restore", { body: {} }))).toEqual([400, "validation_error"]);
  });
});
