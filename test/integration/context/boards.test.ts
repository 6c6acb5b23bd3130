/** What an item's gate says, what happened since, and what is stuck. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type {
  HealthContext,
  ItemContextAnswer,
  SessionContext,
} from "../../../services/contract/contexts.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { plantEdge, plantGraph, plantItem } from "../../support/fixtures.ts";
import { answerTokens } from "../../support/answer-tokens.ts";
import { advance, agent, granted } from "../claims/calls.ts";
import { noteSpec, schemaOfType, write } from "../notes/notebook.ts";

describeEachDatabase("a context", (database) => {
  let engine: TestEngine;
  const schemas = schemaOfType("feature", {
    notes: [
      noteSpec("plan", "queue", { guidance: "Name the files.", skill: "planning" }),
      noteSpec("report", "work", { guidance: "Say what changed." }),
    ],
    resources: [{ key: "staging-db", mode: "exclusive", ttlSeconds: 60, capacity: 1 }],
  });
  beforeAll(() => {
    engine = createTestEngine(database(), { schemas });
  });
  afterAll(() => engine.close());

  const plant = (item: Parameters<typeof plantItem>[1]) => plantItem(database().db, item);
  const item = async (itemId: string, more: object = {}) =>
    (await engine.call("get_context", { itemId, ...more })) as ItemContextAnswer;
  const health = async (more: object = {}) =>
    (await engine.call("get_context", { mode: "health-check", ...more })) as HealthContext;
  const session = async (since: string, more: object = {}) =>
    (await engine.call("get_context", { since, ...more })) as SessionContext;

  it("says of an item what is missing, what to read for it, and that it cannot go on", async () => {
    const itemId = await plant({ type: "feature", tags: ["api"] });
    expect(await item(itemId)).toMatchObject({
      mode: "item",
      item: { id: itemId, role: "queue", tags: "api", depth: 0 },
      schema: [
        { key: "plan", role: "queue", required: true, exists: false, filled: false },
        { key: "report", role: "work", required: true, exists: false, filled: false },
      ],
      gateStatus: { canAdvance: false, phase: "queue", missing: ["plan"], blockedBy: "note" },
      guidanceKey: "plan",
      skillPointer: "planning",
      resourceLeases: [{ key: "staging-db", mode: "exclusive", held: false }],
    });
    await write(engine, { itemId, key: "plan", body: " " });
    expect((await item(itemId)).schema[0]).toMatchObject({ exists: true, filled: false });
    await write(engine, { itemId, key: "plan", body: "Top down." });
    const open = await item(itemId);
    expect(open.gateStatus).toEqual({ canAdvance: true, phase: "queue", missing: [] });
    expect(open).not.toHaveProperty("guidanceKey");
    expect(open).not.toHaveProperty("skillPointer");
  });

  it("says who holds an item, and goes by the holder's own start", async () => {
    const itemId = await plant({});
    const claimed = await granted(engine, agent("ann"), { itemId });
    const shown = await item(itemId);
    expect(shown.claimDetail).toEqual({
      claimedBy: "ann",
      claimedAt: claimed.claimedAt,
      claimExpiresAt: claimed.claimExpiresAt,
      originalClaimedAt: claimed.claimedAt,
      isExpired: false,
    });
    expect(shown.gateStatus.canAdvance).toBe(true);
    expect((await item(itemId, { agent: "bob" })).gateStatus).toMatchObject({
      canAdvance: false,
      blockedBy: "claim",
    });
    expect((await item(itemId, { agent: "ann", workerId: "ann-1" })).gateStatus.canAdvance).toBe(true);
  });

  it("agrees with the mutation about dependencies and the table of moves", async () => {
    const itemId = await plant({});
    await plantEdge(database().db, await plant({ title: "first" }), itemId);
    expect((await item(itemId)).gateStatus).toMatchObject({
      canAdvance: false,
      blockedBy: "dependency",
      blockers: [{ title: "first" }],
    });
    expect(await advance(engine, null, { itemId, trigger: "start" })).toMatchObject({ applied: false });
    const held = await plant({ role: "blocked" });
    expect((await item(held)).gateStatus).toMatchObject({ canAdvance: false, blockedBy: "table" });
    const closed = await plant({ role: "terminal" });
    expect((await item(closed)).gateStatus).toMatchObject({ canAdvance: false, blockedBy: "table" });
  });

  it("names the way down to an item when asked to", async () => {
    const root = await plant({ title: "root" });
    const child = await plant({ parentId: root });
    expect((await item(child, { includeAncestors: true })).item.ancestors).toMatchObject([
      { id: root, title: "root" },
    ]);
    expect((await item(child)).item).not.toHaveProperty("ancestors");
  });

  it("lists what is active, blocked and stalled, and why, below an item or everywhere", async () => {
    const root = await plant({ role: "work", title: "project" });
    const below = (more: Parameters<typeof plantItem>[1]) => plant({ parentId: root, ...more });
    const running = await below({ role: "work", claim: { agent: "ann" } });
    const lapsed = await below({ role: "work", claim: { agent: "bob", ttlSeconds: -5 } });
    const left = await below({ role: "work" });
    const gated = await below({ role: "work", type: "feature", claim: { agent: "cid" } });
    const held = await below({ role: "blocked" });
    const waiting = await below({});
    await plantEdge(database().db, running, waiting);
    await plant({ role: "work", title: "elsewhere" });
    const shown = await health({ ancestorId: root });
    expect(shown.activeItems.map(({ id }) => id).toSorted()).toEqual(
      [root, running, lapsed, left, gated].toSorted(),
    );
    expect(shown.blockedItems.map(({ id }) => id).toSorted()).toEqual([held, waiting].toSorted());
    expect(new Map(shown.stalledItems.map(({ id, reason }) => [id, reason]))).toEqual(
      new Map([
        [lapsed, "claim_lapsed"],
        [left, "unclaimed"],
        [gated, "missing_notes"],
      ]),
    );
    expect(shown.stalledItems.find(({ id }) => id === gated)).toMatchObject({
      missingNotes: ["report"],
      guidanceKey: "report",
    });
    expect(shown.claimSummary).toEqual({ active: 2, expired: 1 });
    expect((await health()).activeItems.length).toBeGreaterThan(shown.activeItems.length);
  });

  it("resumes with the transitions since an instant, the latest first, of the subtree that was asked for", async () => {
    const root = await plant({ title: "root" });
    const mine = await plant({ parentId: root, title: "mine" });
    const other = await plant({ title: "other" });
    const since = new Date(Date.now() - 1_000).toISOString();
    for (const itemId of [mine, other]) await advance(engine, agent("ann"), { itemId, trigger: "start" });
    await advance(engine, agent("ann"), { itemId: mine, trigger: "complete", summary: "done" });
    const shown = await session(since, { ancestorId: root });
    expect(shown.recentTransitions.filter(({ itemId }) => itemId === mine)).toMatchObject([
      { title: "mine", fromRole: "work", toRole: "terminal", actorId: "ann", summary: "done" },
      { fromRole: "queue", toRole: "work" },
    ]);
    expect(shown.recentTransitions.map(({ itemId }) => itemId)).not.toContain(other);
    expect((await session(since, { limit: 1 })).recentTransitions).toHaveLength(1);
    expect((await session(new Date(Date.now() + 60_000).toISOString())).recentTransitions).toEqual([]);
  });

  it("takes its mode from what it is given, and refuses what a mode would ignore", async () => {
    const itemId = await plant({});
    expect((await item(itemId)).mode).toBe("item");
    expect(await engine.call("get_context", {})).toMatchObject({ mode: "health-check" });
    expect(await engine.call("get_context", { agent: "ann" })).toMatchObject({ mode: "agent" });
    const refused = { code: "VALIDATION_ERROR" };
    await expect(item("", { itemId: undefined, mode: "item" })).rejects.toMatchObject(refused);
    await expect(item(itemId, { mode: "brief", waitSeconds: 5 })).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining("but with agent") as unknown,
    });
  });

  it("never fills the context of a model, and says when something is cut", async () => {
    const root = await plant({ title: "wide" });
    const wide = "漢".repeat(500);
    const rows = Array.from({ length: 450 }, (_, n) => ({
      parentId: root,
      title: wide,
      role: n % 2 === 0 ? ("work" as const) : ("blocked" as const),
    }));
    await plantGraph(database().db, rows, []);
    const input = { mode: "health-check", ancestorId: root, includeAncestors: true };
    expect(await answerTokens(engine, "get_context", input)).toBeLessThan(25_000);
    expect((await health({ ancestorId: root })).truncated).toBe(true);
  });
});
