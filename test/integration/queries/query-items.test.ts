import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type Asking, asking } from "../../support/asking.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { plantEdge, plantGraph, plantItem } from "../../support/fixtures.ts";

type Sort = "title" | "priority" | "complexity" | "createdAt" | "modifiedAt";

describeEachDatabase("query_items", (database) => {
  let engine: TestEngine;
  let search: Asking["search"];
  let get: Asking["get"];
  beforeAll(() => {
    engine = createTestEngine(database());
    ({ search, get } = asking(engine));
  });
  afterAll(() => engine.close());
  beforeEach(async () => {
    await sql`truncate items cascade`.execute(database().db);
  });

  const idsOf = async (input: Parameters<Asking["search"]>[0]): Promise<string[]> =>
    (await search(input)).items.map((one) => one.id);

  it("gets one item in full; ancestors and timestamps when asked", async () => {
    const { db } = database();
    const root = await plantItem(db, { title: "root" });
    const id = await plantItem(db, {
      parentId: root,
      title: "leaf",
      description: "body",
      tags: ["a", "b"],
      needs: ["gpu"],
    });
    const plain = await get(id);
    expect(plain).toMatchObject({
      id,
      parentId: root,
      rootId: root,
      depth: 1,
      description: "body",
      tags: "a,b",
      needs: "gpu",
      version: 1,
      isClaimed: false,
      ready: false,
    });
    expect(plain).not.toHaveProperty("ancestors");
    expect(plain).not.toHaveProperty("createdAt");
    const full = await get(id, { includeAncestors: true, includeTimestamps: true });
    expect(full.ancestors).toEqual([{ id: root, title: "root", depth: 0 }]);
    expect(Date.parse(full.createdAt ?? "")).toBeGreaterThan(0);
  });

  it("takes an id by its prefix; two matches are both listed, three digits refused [B79]", async () => {
    const { db } = database();
    const ids = ["abcd1111-0000-4000-8000-000000000001", "abcd1111-0000-4000-8000-000000000002"];
    const [one, other] = await plantGraph(
      db,
      ids.map((id) => ({ id, title: `item ${id.at(-1)}` })),
      [],
    );
    const sole = await plantItem(db, { id: "abce1111-0000-4000-8000-000000000003" });
    expect(await get("abce")).toMatchObject({ id: sole });
    await expect(get("abcd")).rejects.toMatchObject({
      code: "ambiguous_id",
      details: {
        prefix: "abcd",
        matches: [
          { id: one, title: "item 1" },
          { id: other, title: "item 2" },
        ],
      },
    });
    await expect(get("abc")).rejects.toThrow(/too short/);
    await expect(get("ffff")).rejects.toMatchObject({ code: "RESOURCE_NOT_FOUND" });
    await expect(get("00000000-0000-4000-8000-000000000000")).rejects.toMatchObject({
      code: "RESOURCE_NOT_FOUND",
    });
  });

  it("sorts by what it is told, priority by urgency, ties by age", async () => {
    const [b, a, c] = await plantGraph(
      database().db,
      [
        { title: "b", priority: "low", complexity: 5, createdAgo: 30 },
        { title: "a", priority: "high", createdAgo: 20 },
        { title: "c", priority: "medium", complexity: 2, createdAgo: 10 },
      ],
      [],
    );
    const sorted = (sortBy: Sort, sortOrder: "asc" | "desc"): Promise<string[]> =>
      idsOf({ sortBy, sortOrder });
    expect(await sorted("title", "asc")).toEqual([a, b, c]);
    expect(await sorted("title", "desc")).toEqual([c, b, a]);
    expect(await sorted("priority", "desc")).toEqual([a, c, b]);
    expect(await sorted("priority", "asc")).toEqual([b, c, a]);
    expect(await sorted("complexity", "asc")).toEqual([c, b, a]);
    expect(await sorted("complexity", "desc")).toEqual([b, c, a]);
    expect(await sorted("createdAt", "asc")).toEqual([b, a, c]);
    expect(await idsOf({})).toEqual([c, a, b]);
    expect(await sorted("modifiedAt", "asc")).toEqual([b, a, c]);
  });

  it("pages without overlap, and says how many there are", async () => {
    const ids = await plantGraph(
      database().db,
      Array.from({ length: 7 }, () => ({ createdAgo: 5, title: "same" })),
      [],
    );
    const pages = await Promise.all([0, 3, 6].map((offset) => search({ limit: 3, offset, sortBy: "title" })));
    expect(pages.map((page) => [page.returned, page.total, page.hasMore])).toEqual([
      [3, 7, true],
      [3, 7, true],
      [1, 7, false],
    ]);
    expect(pages.flatMap((page) => page.items.map((one) => one.id)).toSorted()).toEqual(ids.toSorted());
  });

  it("filters by place, depth, role, assignee, tags and type", async () => {
    const { db } = database();
    const root = await plantItem(db, { title: "root" });
    const child = await plantItem(db, { parentId: root, tags: ["x"], assignee: "ada", role: "work" });
    const grandchild = await plantItem(db, { parentId: child, tags: ["y"], type: "bug" });
    const stranger = await plantItem(db, {});
    expect((await idsOf({ ancestorId: root })).toSorted()).toEqual([root, child, grandchild].toSorted());
    expect(await idsOf({ parentId: root })).toEqual([child]);
    expect((await idsOf({ depth: 0 })).toSorted()).toEqual([root, stranger].toSorted());
    expect(await idsOf({ role: "work" })).toEqual([child]);
    expect((await idsOf({ role: "work,queue" })).length).toBe(4);
    expect(await idsOf({ assignee: "ada" })).toEqual([child]);
    expect((await idsOf({ tags: "x,y" })).toSorted()).toEqual([child, grandchild].toSorted());
    expect(await idsOf({ type: "bug", ancestorId: root.slice(0, 12).replace("-", "") })).toEqual([
      grandchild,
    ]);
  });

  it("tells claimed, expired and unclaimed apart, and never who holds; at its expiry a claim has expired [B49]", async () => {
    const { db } = database();
    const held = await plantItem(db, { claim: { agent: "secret-agent", ttlSeconds: 60 } });
    const free = await plantItem(db, {});
    const status = (claimStatus: "claimed" | "unclaimed" | "expired"): Promise<string[]> =>
      idsOf({ claimStatus });
    expect(await status("claimed")).toEqual([held]);
    expect(await status("expired")).toEqual([]);
    expect(await status("unclaimed")).toEqual([free]);
    expect(await get(held)).toMatchObject({ isClaimed: true });
    await database().advance(60_000);
    expect(await status("claimed")).toEqual([]);
    expect(await status("expired")).toEqual([held]);
    expect(await get(held)).toMatchObject({ isClaimed: false, claimLapsed: true });
    expect(JSON.stringify([await search(), await get(held)])).not.toContain("secret-agent");
  });

  it("splits by readiness", async () => {
    const { db } = database();
    const [ready, waiting, dead, hold, held, blocked] = await plantGraph(
      db,
      [
        {},
        { availableIn: 60 },
        { role: "blocked", dead: true },
        { role: "blocked" },
        { claim: { agent: "a" } },
        {},
      ],
      [],
    );
    const done = await plantItem(db, { role: "terminal" });
    await plantEdge(db, ready ?? "", blocked ?? "");
    const by = (readiness: "ready" | "blocked" | "claimed" | "waiting" | "dead" | "all"): Promise<string[]> =>
      idsOf({ readiness, sortOrder: "asc" });
    expect(await by("ready")).toEqual([ready]);
    expect(await by("waiting")).toEqual([waiting]);
    expect(await by("dead")).toEqual([dead]);
    expect(await by("blocked")).toEqual([dead, hold, blocked]);
    expect(await by("claimed")).toEqual([held]);
    expect((await by("all")).length).toBe(7);
    expect(await idsOf({ readiness: "ready", role: "terminal" })).toEqual([]);
    expect(await get(done)).toMatchObject({ role: "terminal", outcome: "done", ready: false });
  });

  it("lists no bodies", async () => {
    await plantItem(database().db, { description: "a long body", summary: "a summary" });
    const text = JSON.stringify(await search());
    expect(text).not.toContain("body");
    expect(text).not.toContain("summary");
  });
});
