import { sql } from "kysely";
import { TRIGGERS } from "../../../services/core/roles.ts";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type Asking, asking } from "../../support/asking.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { type ItemFixture, plantEdge, plantItem } from "../../support/fixtures.ts";

describeEachDatabase("what stands in the way", (database) => {
  let engine: TestEngine;
  let explain: Asking["explain"];
  let status: Asking["status"];
  let listBlocked: Asking["blocked"];
  let advance: Asking["advance"];
  beforeAll(() => {
    engine = createTestEngine(database());
    ({ explain, status, blocked: listBlocked, advance } = asking(engine));
  });
  afterAll(() => engine.close());
  beforeEach(async () => {
    await sql`truncate items cascade`.execute(database().db);
  });

  const codes = async (itemId: string): Promise<string[]> =>
    (await explain(itemId)).reasons.map((one) => one.code);

  it("explain gives every reason at once, each with what clears it", async () => {
    const { db } = database();
    const parent = await plantItem(db, { claim: { agent: "other", session: "other-secret" } });
    const item = await plantItem(db, {
      parentId: parent,
      claim: { agent: "third", session: "third-secret" },
      availableIn: 60,
      needs: ["gpu", "ios"],
      assignee: "fourth",
    });
    await plantItem(db, { parentId: item });
    const blocker = await plantItem(db, { title: "first" });
    await plantEdge(db, blocker, item);
    await plantEdge(db, blocker, parent);
    const { offered, reasons } = await explain(item, { agent: "me", capabilities: "gpu" });
    expect(offered).toBe(false);
    expect(reasons.map((one) => one.code)).toEqual([
      "claimed",
      "ancestor_claimed",
      "dependency_blocked",
      "ancestor_blocked",
      "not_yet",
      "container",
      "capabilities",
      "assignee",
    ]);
    expect(reasons.every((one) => one.message !== "" && one.clearedBy !== "")).toBe(true);
    expect(reasons[2]?.itemId).toBe(blocker);
    expect(reasons[6]?.message).toBe("it needs ios");
    expect(JSON.stringify(reasons)).not.toMatch(/"other|third|fourth|secret/);
  });

  it("explain speaks of roles, of the dead, of one's own claim and of a lapsed one", async () => {
    const { db } = database();
    expect(await codes(await plantItem(db, { role: "terminal" }))).toEqual(["role"]);
    const hold = await explain(await plantItem(db, { role: "blocked", previousRole: "review" }));
    expect(hold.reasons[0]?.clearedBy).toContain("review");
    expect(await codes(await plantItem(db, { role: "blocked", dead: true, attempts: 5 }))).toEqual(["dead"]);
    const held = await plantItem(db, { claim: { agent: "me", session: "mine", ttlSeconds: 10 } });
    const own = await explain(held, { agent: "me", workerId: "mine" });
    expect(own.reasons[0]?.message).toBe("you hold it");
    expect((await explain(held, { agent: "me", workerId: "not-mine" })).reasons[0]?.message).toBe(
      "it is claimed",
    );
    await database().advance(10_000);
    const lapsed = await explain(held);
    expect(lapsed.reasons[0]?.message).toContain("lapsed");
    expect(lapsed.reasons[0]?.clearedBy).toContain("sweep");
    expect(await explain(await plantItem(db, { role: "work" }))).toMatchObject({
      offered: true,
      role: "work",
      reasons: [],
    });
  });

  it("explain says how a cancelled, dead or held blocker is got out of the way", async () => {
    const { db } = database();
    const item = await plantItem(db, {});
    for (const blocker of [
      { role: "terminal", outcome: "cancelled" },
      { role: "blocked", dead: true },
      { role: "blocked" },
    ] as const) {
      await plantEdge(db, await plantItem(db, blocker), item);
    }
    const { reasons } = await explain(item);
    expect(reasons.map((one) => one.clearedBy.split(" ")[0])).toEqual(["reopening", "an", "resuming"]);
  });

  it("blocked items name their blockers, own and inherited, satisfied or not", async () => {
    const { db } = database();
    const done = await plantItem(db, { title: "done", role: "terminal" });
    const open = await plantItem(db, { title: "open", role: "work" });
    const parent = await plantItem(db, { title: "parent", priority: "high" });
    const child = await plantItem(db, { title: "child", parentId: parent, summary: "why", tags: ["t"] });
    await plantEdge(db, done, parent);
    await plantEdge(db, open, parent, { unblockAt: "review" });
    const held = await plantItem(db, {
      role: "blocked",
      statusLabel: "waiting for a person",
      priority: "low",
    });
    const list = await listBlocked({ includeItemDetails: true, includeAncestors: true });
    expect(list).toMatchObject({ total: 3, hasMore: false });
    expect(list.blockedItems).toMatchObject([
      {
        itemId: parent,
        blockType: "dependency",
        blockerCount: 1,
        blockedBy: [
          {
            itemId: open,
            role: "work",
            unblockAt: "review",
            effectiveUnblockRole: "review",
            satisfied: false,
          },
          { itemId: done, effectiveUnblockRole: "terminal", satisfied: true },
        ],
      },
      {
        itemId: child,
        blockType: "dependency",
        blockerCount: 1,
        blockedBy: [{ itemId: open, satisfied: false, throughAncestorId: parent }],
        summary: "why",
        tags: "t",
        ancestors: [{ id: parent, title: "parent" }],
      },
      {
        itemId: held,
        blockType: "explicit",
        statusLabel: "waiting for a person",
        blockedBy: [],
        blockerCount: 0,
      },
    ]);
    expect((await listBlocked({ parentId: parent })).blockedItems).toHaveLength(1);
    const page = await listBlocked({ ancestorId: parent, limit: 1, offset: 1 });
    expect(page).toMatchObject({ blockedItems: [{ itemId: child }], total: 2, hasMore: false });
    expect(page.blockedItems[0]).not.toHaveProperty("summary");
  });

  it("the preview of a start is what the start does", async () => {
    const { db } = database();
    const queued = await plantItem(db, {});
    const preview = await status(queued);
    expect(preview).toMatchObject({
      recommendation: "Ready",
      currentRole: "queue",
      nextRole: "work",
      trigger: "start",
      progressionPosition: "1/3",
    });
    const started = await advance({ itemId: queued, trigger: "start" });
    expect(started).toMatchObject({ newRole: preview.nextRole });
    expect(await status(queued)).toMatchObject({
      recommendation: "Ready",
      nextRole: "terminal",
      progressionPosition: "2/3",
    });
  });

  it("the preview names blockers, the role to resume to, and the end [B16]", async () => {
    const { db } = database();
    const [a, b] = [await plantItem(db, { title: "A" }), await plantItem(db, {})];
    await plantEdge(db, a, b);
    expect(await status(b)).toMatchObject({
      recommendation: "Blocked",
      reason: "dependency_blocked",
      blockers: [{ fromItemId: a, title: "A", currentRole: "queue", requiredRole: "terminal" }],
    });
    const hold = await status(await plantItem(db, { role: "blocked", previousRole: "work" }));
    expect(hold.recommendation).toBe("Blocked");
    expect(hold.suggestion).toContain("resume");
    const end = await status(await plantItem(db, { role: "terminal", outcome: "cancelled" }));
    expect(end).toMatchObject({
      recommendation: "Terminal",
      reason: "the item is cancelled",
      triggers: ["reopen"],
    });
    await expect(status("00000000-0000-4000-8000-000000000000")).rejects.toMatchObject({
      code: "RESOURCE_NOT_FOUND",
    });
  });

  it("the preview knows the holder, and never names another", async () => {
    const { db } = database();
    const held = await plantItem(db, { role: "work", claim: { agent: "secret-agent", session: "s-1" } });
    const stranger = await status(held, { agent: "me" });
    expect(stranger).toMatchObject({ recommendation: "Blocked", reason: "not_claim_holder" });
    expect(JSON.stringify(stranger)).not.toContain("secret-agent");
    expect(await status(held, { agent: "secret-agent", workerId: "s-1" })).toMatchObject({
      recommendation: "Ready",
    });
    expect(await status(held, { agent: "secret-agent", workerId: "s-2" })).toMatchObject({
      reason: "not_claim_holder",
    });
  });

  it("every trigger that the preview lists is taken, every other refused", async () => {
    const { db } = database();
    const states: readonly ItemFixture[] = [
      {},
      { role: "work" },
      { role: "review" },
      { role: "blocked", previousRole: "work" },
      { role: "blocked", dead: true },
      { role: "terminal" },
    ];
    for (const state of states) {
      for (const trigger of TRIGGERS) {
        const parent = await plantItem(db, { role: state.role === "terminal" ? "terminal" : "queue" });
        const item = await plantItem(db, { ...state, parentId: parent });
        const waiting = await plantItem(db, {});
        await plantEdge(db, item, waiting);
        const { triggers } = await status(item);
        const reason = trigger === "fail" ? { reason: "it broke" } : {};
        const result = await advance({ itemId: item, trigger, ...reason }, "w");
        const listed = triggers?.includes(trigger);
        expect({ state, trigger, applied: result?.applied }).toEqual({ state, trigger, applied: listed });
      }
    }
  });
});
