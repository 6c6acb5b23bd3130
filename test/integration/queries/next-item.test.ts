import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type Asking, asking } from "../../support/asking.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { plantEdge, plantGraph, plantItem } from "../../support/fixtures.ts";

describeEachDatabase("get_next_item", (database) => {
  let engine: TestEngine;
  let recommend: Asking["next"];
  let explain: Asking["explain"];
  let claim: Asking["claim"];
  let advance: Asking["advance"];
  beforeAll(() => {
    engine = createTestEngine(database());
    ({ next: recommend, explain, claim, advance } = asking(engine));
  });
  afterAll(() => engine.close());
  beforeEach(async () => {
    await sql`truncate items cascade`.execute(database().db);
  });

  const next = async (input: Parameters<Asking["next"]>[0] = {}): Promise<string[]> =>
    (await recommend({ limit: 20, ...input })).recommendations.map((one) => one.itemId);

  it("finds the one free item behind 250 more urgent ones that wait [B44]", async () => {
    const { db } = database();
    const blocker = await plantItem(db, { role: "work", claim: { agent: "x" } });
    const waiting = await plantGraph(
      db,
      Array.from({ length: 250 }, () => ({ priority: "high" as const })),
      [],
    );
    await plantGraph(
      db,
      [],
      waiting.map((to) => ({ from: blocker, to })),
    );
    const free = await plantItem(db, { priority: "low" });
    expect(await next()).toEqual([free]);
    expect(await claim("y", { selector: {} })).toMatchObject({ outcome: "success", itemId: free });
  });

  it("hides what lies below another's claim, shows it to that agent, and says so [B46]", async () => {
    const { db } = database();
    const top = await plantItem(db, { claim: { agent: "holder", session: "h-1" } });
    const middle = await plantItem(db, { parentId: top });
    const leaf = await plantItem(db, { parentId: middle });
    expect(await next()).toEqual([]);
    expect(await next({ agent: "other" })).toEqual([]);
    expect(await next({ agent: "holder" })).toEqual([leaf]);
    const explained = await explain(leaf, { agent: "other" });
    expect(explained.reasons).toMatchObject([{ code: "ancestor_claimed", itemId: top }]);
    expect(JSON.stringify(explained)).not.toContain('holder"');
    const byId = await claim("other", { itemId: leaf });
    expect(byId).toMatchObject({ outcome: "success", warnings: [expect.any(String)] });
  });

  it("leaves out another worker's item and fills up from below; its holder is shown it [P-12]", async () => {
    const { db } = database();
    const top = await plantItem(db, { priority: "high", claim: { agent: "w", session: "w-1" } });
    const others = await plantGraph(db, [{ priority: "medium" }, { priority: "low" }], []);
    expect(await next({ limit: 2, agent: "w", workerId: "w-2" })).toEqual(others);
    expect(await next({ limit: 2, agent: "w", workerId: "w-1" })).toEqual([top, others[0]]);
    expect(await next({ limit: 2, agent: "w" })).toEqual(others);
  });

  it("says of each why it is offered, and never who holds it", async () => {
    const { db } = database();
    const [mine = "", other = "", urgent = "", waiting = "", review = "", mineToo = "", retry = ""] =
      await plantGraph(
        db,
        [
          { priority: "high", claim: { agent: "w", session: "w-1" } },
          { priority: "high", claim: { agent: "secret", session: "s" } },
          { priority: "high" },
          { priority: "low" },
          { role: "review" },
          { priority: "low", assignee: "w" },
          { attempts: 2 },
        ],
        [],
      );
    await plantEdge(db, urgent, waiting);
    const answer = await recommend({
      limit: 20,
      agent: "w",
      workerId: "w-1",
      includeClaimed: true,
      role: "queue,review",
    });
    const reasons = new Map(answer.recommendations.map((one) => [one.itemId, one.reason]));
    expect(reasons.get(mine)).toBe("yours already: go on");
    expect(reasons.get(other)).toBe("held by another, high priority");
    expect(reasons.get(urgent)).toBe("unblocks 1, high priority");
    expect(reasons.get(review)).toBe("to review, medium priority");
    expect(reasons.get(mineToo)).toBe("assigned to you, low priority");
    expect(reasons.get(retry)).toBe("attempt 3, medium priority");
    expect(JSON.stringify(answer)).not.toContain("secret");
    const [oldest] = (await recommend({ orderBy: "oldest" })).recommendations;
    expect(oldest?.reason).toContain("oldest first");
  });

  it("ranks by priority, then complexity, then age; or by age either way", async () => {
    const [low, hard, unknown, easy, older] = await plantGraph(
      database().db,
      [
        { priority: "low", createdAgo: 50 },
        { priority: "high", complexity: 9, createdAgo: 40 },
        { priority: "high", createdAgo: 30 },
        { priority: "high", complexity: 1, createdAgo: 20 },
        { priority: "high", complexity: 1, createdAgo: 60 },
      ],
      [],
    );
    expect(await next()).toEqual([older, easy, hard, unknown, low]);
    expect(await next({ orderBy: "oldest" })).toEqual([older, low, hard, unknown, easy]);
    expect(await next({ orderBy: "newest" })).toEqual([easy, unknown, hard, low, older]);
    expect(await next({ limit: 2 })).toEqual([older, easy]);
  });

  it("takes roles in the order in which they are preferred", async () => {
    const [stalled, queued] = await plantGraph(
      database().db,
      [{ role: "work", priority: "low" }, { priority: "high" }],
      [],
    );
    expect(await next()).toEqual([queued]);
    expect(await next({ role: "work,queue" })).toEqual([stalled, queued]);
    expect(await next({ role: "queue,work" })).toEqual([queued, stalled]);
  });

  it("lets roots take turns: least held first, then least recently served", async () => {
    const { db } = database();
    const roots = await plantGraph(db, [{}, {}, {}], []);
    const items = roots.flatMap((parentId) => [{ parentId }, { parentId }]);
    const ids = await plantGraph(db, items, []);
    const rootOf = new Map(ids.map((id, at) => [id, roots[Math.floor(at / 2)]]));
    expect(new Set((await next({ orderBy: "fair", limit: 3 })).map((id) => rootOf.get(id))).size).toBe(3);
    const served: (string | undefined)[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      const { itemId = "" } = await claim("f", { selector: { orderBy: "fair" } });
      served.push(rootOf.get(itemId));
      await advance({ itemId, trigger: "complete" }, "f");
    }
    expect(new Set(served.slice(0, 3)).size).toBe(3);
    expect(served.slice(3)).toEqual(served.slice(0, 3));
  });

  it("offers containers only when asked for them, or for their type", async () => {
    const { db } = database();
    const feature = await plantItem(db, { type: "feature", priority: "high" });
    const leaf = await plantItem(db, { parentId: feature, type: "task" });
    expect(await next()).toEqual([leaf]);
    expect(await next({ containers: true })).toEqual([feature, leaf]);
    expect(await next({ type: "feature" })).toEqual([feature]);
  });

  it("filters by every field of the selector", async () => {
    const { db } = database();
    const parent = await plantItem(db, {});
    const [match] = await plantGraph(
      db,
      [
        { parentId: parent, tags: ["a", "b"], priority: "high", type: "bug", complexity: 2, createdAgo: 100 },
        { parentId: parent, tags: ["c"], priority: "low", complexity: 8, createdAgo: 10 },
      ],
      [],
    );
    const minuteAgo = new Date(Date.now() - 60_000).toISOString();
    const filters: Parameters<Asking["next"]>[0][] = [
      { tags: "b,z" },
      { priority: "high" },
      { type: "bug" },
      { complexityMax: 3 },
      { createdBefore: minuteAgo },
      { modifiedBefore: minuteAgo },
      { roleChangedBefore: minuteAgo },
      { tags: "a", parentId: parent, ancestorId: parent.slice(0, 8), priority: "high" },
    ];
    for (const filter of filters)
      expect({ filter, found: await next(filter) }).toEqual({ filter, found: [match] });
    expect(await next({ tags: "z" })).toEqual([]);
  });

  it("shows bodies and paths only when asked", async () => {
    const { db } = database();
    const root = await plantItem(db, { title: "root" });
    const leaf = await plantItem(db, { title: "leaf", parentId: root, summary: "why", tags: ["x", "y"] });
    const plain = await recommend();
    expect(plain.recommendations).toEqual([
      { itemId: leaf, title: "leaf", role: "queue", priority: "medium", reason: "medium priority" },
    ]);
    const full = await recommend({ includeDetails: true, includeAncestors: true });
    expect(full.recommendations[0]).toMatchObject({
      summary: "why",
      tags: "x,y",
      parentId: root,
      ancestors: [{ id: root, title: "root", depth: 0 }],
    });
  });

  it("does not offer what waits for its time, until the time has come", async () => {
    const item = await plantItem(database().db, { availableIn: 60 });
    const empty = await recommend();
    expect(empty).toMatchObject({ total: 0, excluded: { waiting: 1 } });
    expect(Date.parse(empty.nextAt ?? "")).toBeGreaterThan(0);
    await database().advance(60_000);
    expect(await next()).toEqual([item]);
  });

  it("does not offer what an edge holds, and offers it when the edge lets go", async () => {
    const { db } = database();
    const a = await plantItem(db, { role: "work" });
    const b = await plantItem(db, {});
    await plantEdge(db, a, b, { unblockAt: "work" });
    expect(await next()).toEqual([b]);
  });
});
