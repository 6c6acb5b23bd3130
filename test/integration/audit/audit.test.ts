/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return, typescript/no-unsafe-argument, typescript/no-unsafe-call -- a test that reads a wrong field fails by itself */
/** One row for each call that changes something and for each refusal: who, with what, on what, and what came of it. */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { AuditEntryAnswer } from "../../../services/contract/operations/query-audit.ts";
import type { Capability } from "../../../services/contract/operation.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine, worker } from "../../support/engine.ts";
import { until } from "../../support/until.ts";

const only = (capability: Capability, scope: string[] | null = null) => ({
  access: { capabilities: new Set<Capability>([capability]), scope, agent: null },
  credential: "token:aaaaaaaa",
});

describeEachDatabase("the audit", (database) => {
  let muster: TestEngine;
  beforeAll(() => {
    muster = createTestEngine(database());
  });
  afterAll(() => muster.close());

  const entries = async (filter: object): Promise<AuditEntryAnswer[]> =>
    (await muster.call("query_audit", filter)).entries;
  const callsOf = async (requestId: string): Promise<AuditEntryAnswer[]> => await entries({ requestId });
  /** Refusals are written right after the call. */
  const settled = async (requestId: string): Promise<AuditEntryAnswer[]> => {
    await until(async () => (await callsOf(requestId)).length > 0, 10_000);
    return await callsOf(requestId);
  };
  const make = async (title: string, tags = title): Promise<string> =>
    (await muster.call("manage_items", { operation: "create", items: [{ title, tags }] })).items[0].id;

  it("has a claim and a move in the transactions that make them, with a hash of what was asked and not the words [F-35]", async () => {
    const itemId = await make("audited");
    const [claiming, moving] = [randomUUID(), randomUUID()];
    const who = { actor: worker("ann"), workerId: "ann-1" };
    const { claims } = await muster.call(
      "claim_item",
      { ...who, requestId: randomUUID(), claims: [{ itemId }] },
      { requestId: claiming, credential: "token:aaaaaaaa" },
    );
    // Read at once: nothing is left to be written later.
    expect(await callsOf(claiming)).toMatchObject([
      {
        action: "call",
        operation: "claim_item",
        credential: "token:aaaaaaaa",
        agent: "ann",
        session: "ann-1",
        itemId,
        outcome: "ok",
        argsSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    const { fence } = claims[0];
    const move = {
      ...who,
      requestId: randomUUID(),
      itemId,
      trigger: "start",
      fence,
      summary: "secret words",
    };
    await muster.call("advance_item", move, { requestId: moving });
    const [moved] = await callsOf(moving);
    expect(moved).toMatchObject({ operation: "advance_item", itemId, outcome: "ok" });
    expect(moved?.latencyMs).toBeGreaterThanOrEqual(0);
    const { rows } = await sql<{
      all: string;
    }>`select string_agg(a::text, '') as all from audit_log a`.execute(database().db);
    expect(rows[0]?.all).not.toContain("secret words");
  });

  it.each([
    [
      "manage_notes",
      (itemId: string) => ({ operation: "upsert", notes: [{ itemId, key: "k", role: "queue", body: "b" }] }),
    ],
    ["manage_items", (id: string) => ({ operation: "update", items: [{ itemId: id, title: "renamed" }] })],
    ["manage_items", (id: string) => ({ operation: "delete", itemIds: [id] })],
    ["manage_plan_documents", (rootId: string) => ({ operation: "stash", rootId, slug: "p", body: "b" })],
    ["create_work_tree", () => ({ root: { title: "tree" } })],
  ])("has a row of %s once it is answered", async (operation, input) => {
    const requestId = randomUUID();
    await muster.call(operation, input(await make("target")), { requestId });
    expect(await callsOf(requestId)).toMatchObject([{ operation, outcome: "ok" }]);
  });

  it("has one row of a batch of which a part failed, saying so", async () => {
    const requestId = randomUUID();
    const id = await make("half");
    const items = [
      { itemId: id, title: "changed" },
      { itemId: randomUUID(), title: "nobody" },
    ];
    await muster.call("manage_items", { operation: "update", items }, { requestId });
    await until(async () => (await callsOf(requestId))[0]?.outcome === "partial", 10_000);
    expect(await callsOf(requestId)).toMatchObject([{ outcome: "partial", errorCode: "RESOURCE_NOT_FOUND" }]);
  });

  it("has what was refused: for want of a right, also a read; by the state; and for naming somebody else", async () => {
    const id = await make("refused");
    const [denied, unread, stated, named] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const update = { operation: "update", items: [{ itemId: id, title: "x" }] };
    await expect(
      muster.call("manage_items", update, { ...only("read"), requestId: denied }),
    ).rejects.toMatchObject({ code: "insufficient_scope" });
    await expect(
      muster.call("list_tokens", {}, { ...only("read"), requestId: unread }),
    ).rejects.toMatchObject({ code: "insufficient_scope" });
    await muster.call(
      "advance_item",
      { itemId: id, trigger: "resume", actor: worker("ann") },
      { requestId: stated },
    );
    const bound = { access: { ...only("write-items").access, agent: "ann" } };
    await expect(
      muster.call("manage_items", { ...update, actor: worker("bob") }, { ...bound, requestId: named }),
    ).rejects.toMatchObject({ code: "rejected_by_policy" });
    expect(await settled(denied)).toMatchObject([
      { operation: "manage_items", itemId: id, outcome: "refused", errorCode: "insufficient_scope" },
    ]);
    expect(await settled(unread)).toMatchObject([{ operation: "list_tokens", outcome: "refused" }]);
    expect(await settled(stated)).toMatchObject([
      { operation: "advance_item", outcome: "refused", errorCode: "invalid_transition" },
    ]);
    expect(await settled(named)).toMatchObject([{ outcome: "refused", errorCode: "rejected_by_policy" }]);
  });

  it("has nothing of reads, of heartbeats, and of claims that found nothing", async () => {
    const [reading, beating, looking] = [randomUUID(), randomUUID(), randomUUID()];
    const itemId = await make("alive");
    const who = { actor: worker("eve"), workerId: "eve-1" };
    const { claims } = await muster.call("claim_item", {
      ...who,
      requestId: randomUUID(),
      claims: [{ itemId }],
    });
    const refreshes = [{ itemId, fence: claims[0].fence }];
    await muster.call("query_items", { operation: "get", itemId }, { requestId: reading });
    await muster.call("claim_item", { ...who, requestId: randomUUID(), refreshes }, { requestId: beating });
    const selector = { tags: "no-such-tag" };
    const empty = { ...who, workerId: "eve-2", requestId: randomUUID(), claims: [{ selector }] };
    await muster.call("claim_item", empty, { requestId: looking });
    // One that is written later than those would be.
    const last = randomUUID();
    await muster.call("list_tokens", {}, { ...only("read"), requestId: last }).catch(() => undefined);
    await settled(last);
    for (const requestId of [reading, beating, looking]) expect(await callsOf(requestId)).toEqual([]);
  });

  it("is read in pages, by who, what and when, and only by administrators, each within their scope", async () => {
    const id = await make("paged");
    for (const title of ["a", "b", "c"])
      await muster.call("manage_items", {
        operation: "update",
        items: [{ itemId: id, title }],
        actor: worker("pam"),
      });
    const first = await muster.call("query_audit", { agent: "pam", operation: "manage_items", limit: 2 });
    expect(first).toMatchObject({ hasMore: true });
    const rest = await entries({ agent: "pam", operation: "manage_items", before: first.nextBefore });
    expect([...first.entries, ...rest]).toHaveLength(3);
    expect(await entries({ agent: "pam", until: "2020-01-01" })).toEqual([]);
    await expect(muster.call("query_audit", {}, only("operate"))).rejects.toMatchObject({
      code: "insufficient_scope",
    });
    const other = await make("corner");
    const inside = await muster.call("query_audit", {}, only("admin", [other]));
    const about = new Set(inside.entries.map((one: AuditEntryAnswer) => one.itemId));
    expect(about).toEqual(new Set());
    await muster.call("manage_items", { operation: "update", items: [{ itemId: other, title: "moved" }] });
    const now = await muster.call("query_audit", {}, only("admin", [other]));
    expect(new Set(now.entries.map((one: AuditEntryAnswer) => one.itemId))).toEqual(new Set([other]));
  });
});
