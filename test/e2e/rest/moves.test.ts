import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { claimItem } from "../../../services/contract/operations/claim-item.ts";
import { parseInput } from "../../../services/contract/parse.ts";
import { testCaller } from "../../support/engine.ts";
import { type RestClient, restClient } from "../../support/rest-client.ts";
import { startTestServer, type RealServer } from "../../support/server.ts";

const CONFIG = `work_item_schemas:
  task:
    notes:
      - { key: spec, role: queue, required: true }
traits:
  deploys:
    resources: [{ key: env/staging-db }]
`;
const GONE = randomUUID();

let server: RealServer;
let rest: RestClient;
let root: string;

beforeAll(async () => {
  server = await startTestServer({ database: "pglite" });
  rest = restClient(server);
});
afterAll(() => server.close());
beforeEach(async () => {
  root = await make({ type: "project" });
  await rest(`PUT /roots/${root}/config`, { body: CONFIG, type: "application/yaml" });
});

async function make(fields: Record<string, unknown> = {}): Promise<string> {
  const made = await rest("POST /items", { body: { title: "An item", ...fields } });
  expect(made.status).toBe(201);
  return made.body.id;
}

const advance = (id: string, body: Record<string, unknown>, headers: Record<string, string> = {}) =>
  rest(`POST /items/${id}/advance`, { body, headers });

async function claim(itemId: string, agent: string): Promise<void> {
  const input = {
    actor: { id: agent, kind: "subagent" },
    requestId: randomUUID(),
    claims: [{ itemId }],
  };
  await server.engine.execute("claim_item", parseInput(claimItem, input), testCaller());
}

describe("POST /items/{id}/advance", () => {
  it("moves the item and says what else moved", async () => {
    const parent = await make({ parentId: root });
    const child = await make({ parentId: parent });
    const started = await advance(child, { trigger: "start", summary: "begun" });
    expect([started.status, started.body]).toMatchObject([
      200,
      {
        itemId: child,
        previousRole: "queue",
        newRole: "work",
        trigger: "start",
        cascadeEvents: [
          { itemId: parent, previousRole: "queue", targetRole: "work", applied: true, gateBlocked: false },
          { itemId: root },
        ],
        unblockedItems: [],
        expectedNotes: [],
      },
    ]);
    const moves = await rest(`GET /items/${child}/transitions`);
    expect(moves.body.items).toMatchObject([
      { fromRole: "queue", toRole: "work", trigger: "start", summary: "begun", actor: { id: "api:local" } },
    ]);
  });

  it("is refused by a gate with the notes that are missing, and passes once they are written", async () => {
    const task = await make({ type: "task", parentId: root });
    const gate = await rest(`GET /items/${task}/gate`);
    expect(gate.body).toMatchObject({ recommendation: "Blocked", missingNotes: [{ key: "spec" }] });
    expect((await advance(task, { trigger: "start" })).body).toMatchObject({
      status: 422,
      error: "gate_blocked",
      details: { missingNotes: [{ key: "spec" }] },
    });
    expect((await rest(`GET /items/${task}/schema`)).body).toMatchObject({ type: "task" });
    const withNote = { trigger: "start", notes: [{ key: "spec", role: "queue", body: "Do it" }] };
    expect((await advance(task, withNote)).body.status).toBeUndefined();
    expect((await rest(`GET /items/${task}/gate`)).body).toMatchObject({ currentRole: "work" });
  });

  it("is refused while a blocker is open, with the blocker in the answer [S35]", async () => {
    const [blocker, item] = [await make(), await make()];
    await rest("POST /dependencies", { body: { fromItemId: blocker, toItemId: item } });
    for (const trigger of ["start", "complete"]) {
      const refused = await advance(item, { trigger });
      expect(refused.body).toMatchObject({
        status: 422,
        error: "transition_blocked",
        code: "dependency_blocked",
        details: { blockers: [{ fromItemId: blocker, currentRole: "queue", requiredRole: "terminal" }] },
      });
      expect(refused.body.message).not.toMatch(/closed|does not exist|no item/);
    }
    expect((await rest(`GET /items/${item}/explain`)).body).toMatchObject({ offered: false });
    expect((await advance(blocker, { trigger: "complete" })).body).toMatchObject({
      unblockedItems: [{ itemId: item }],
    });
  });

  it("is refused to whoever does not hold a claimed item, without the holder's name", async () => {
    const item = await make();
    await claim(item, "secretive-agent");
    const refused = await advance(item, { trigger: "start" });
    expect(refused.body).toMatchObject({ status: 409, error: "not_claim_holder" });
    expect(refused.text).not.toContain("secretive-agent");
  });

  it("is refused where the trigger does not lead anywhere", async () => {
    const item = await make();
    expect((await advance(item, { trigger: "resume" })).body).toMatchObject({
      status: 422,
      error: "transition_failed",
    });
    expect((await advance(item, { trigger: "fly" })).body).toMatchObject({
      status: 400,
      error: "validation_error",
    });
    expect((await advance(item, {})).body).toMatchObject({ status: 400, error: "validation_error" });
    expect((await advance(GONE, { trigger: "start" })).body).toMatchObject({
      status: 404,
      error: "not_found",
    });
  });

  it("moves once for a key, however often it comes", async () => {
    const item = await make();
    const key = { "idempotency-key": randomUUID() };
    const first = await advance(item, { trigger: "start" }, key);
    const again = await advance(item, { trigger: "start" }, key);
    expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
    expect(again.body).toMatchObject({ newRole: "work", previousRole: "queue" });
    expect(first.headers.get("idempotency-replayed")).toBeNull();
    expect((await rest(`GET /items/${item}`)).body.role).toBe("work");
  });
});

describe("resources", () => {
  const KEY = "env/staging-db";
  const contend = async (): Promise<[string, string]> => {
    const [first, second] = [
      await make({ parentId: root, traits: ["deploys"] }),
      await make({ parentId: root, traits: ["deploys"] }),
    ];
    expect((await advance(first, { trigger: "start" })).status).toBe(200);
    return [first, second];
  };
  const letGo = async (...items: readonly string[]): Promise<void> => {
    for (const item of items) await advance(item, { trigger: "complete" });
  };

  it("that are taken stop a start, which says what and when to try again", async () => {
    const [first, second] = await contend();
    const refused = await advance(second, { trigger: "start" });
    expect(refused.body).toMatchObject({
      status: 409,
      error: "resource_unavailable",
      details: { contendedResources: [KEY] },
    });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    const list = await rest(`GET /resources/leases?key=${encodeURIComponent(KEY)}`);
    expect(list.body).toMatchObject({
      leases: [{ resourceKey: KEY, holderItemId: first, acquiredByActorId: "api:local" }],
    });
    await letGo(first, second);
  });

  it("are taken away by an administrator once, and the history says by whom and why [B66]", async () => {
    const [first, second] = await contend();
    const path = `DELETE /resources/leases/${KEY}`;
    expect((await rest(path)).body).toMatchObject({ status: 400, error: "validation_error" });
    const taken = await rest(`${path}?reason=broken`);
    expect([taken.status, taken.body]).toMatchObject([
      200,
      { resourceKey: KEY, releasedCount: 1, itemIds: [first] },
    ]);
    expect((await rest(`${path}?reason=broken`)).body).toMatchObject({ status: 404, error: "not_found" });
    const history = await rest(`GET /resources/leases/history?key=${encodeURIComponent(KEY)}&limit=1`);
    expect(history.body).toMatchObject({
      intervals: [
        {
          holderItemId: first,
          releaseReason: "force_released",
          releasedByActorId: "api:local",
          detail: "broken",
        },
      ],
    });
    const bad = await rest("GET /resources/leases/history?at=yesterday");
    expect([bad.status, bad.body.error]).toEqual([400, "validation_error"]);
    await letGo(first, second);
  });

  it("with an escaped slash in their key are taken away too", async () => {
    const [first, second] = await contend();
    const key = { "idempotency-key": randomUUID() };
    const path = `DELETE /resources/leases/${encodeURIComponent(KEY)}?reason=broken`;
    expect((await rest(path, { headers: key })).status).toBe(200);
    const again = await rest(path, { headers: key });
    expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
    await letGo(first, second);
  });

  it("give way to an administrator who starts an item with overrideResourceLeases, and says why", async () => {
    const [first, second] = await contend();
    const silent = await advance(second, { trigger: "start", overrideResourceLeases: true });
    expect([silent.status, silent.body.error]).toEqual([400, "validation_error"]);
    const forced = await advance(second, {
      trigger: "start",
      overrideResourceLeases: true,
      reason: "urgent",
    });
    expect([forced.status, forced.body]).toMatchObject([200, { newRole: "work" }]);
    const list = await rest(`GET /resources/leases?key=${encodeURIComponent(KEY)}`);
    expect(list.body).toMatchObject({ leases: [{ holderItemId: second }] });
    await letGo(first, second);
  });
});

describe("GET /transitions", () => {
  it("lists the moves of all since an instant, page by page", async () => {
    const item = await make();
    const since = (await rest(`GET /items/${item}`)).body;
    await advance(item, { trigger: "start" });
    await advance(item, { trigger: "complete" });
    const at = encodeURIComponent((since as unknown as { createdAt: string }).createdAt);
    const first = await rest(`GET /transitions?since=${at}&pageSize=1`);
    expect(first.body).toMatchObject({ page: 1, pageSize: 1, totalItems: 2, hasMore: true });
    const second = await rest(`GET /transitions?since=${at}&pageSize=1&page=2`);
    expect(second.body).toMatchObject({ hasMore: false, items: [{ toRole: "work" }] });
    expect((await rest("GET /transitions?since=soon")).body).toMatchObject({ status: 400 });
    expect((await rest(`GET /items/${GONE}/transitions`)).body).toMatchObject({ status: 404 });
  });
});
