import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { ItemOverview, OverviewPage } from "../../../services/contract/overviews.ts";
import type { RequestOf } from "../../../services/contract/registry.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { plantGraph, plantItem } from "../../support/fixtures.ts";

type Ask = Omit<RequestOf<"query_items">, "operation" | "itemId">;

describeEachDatabase("overviews", (database) => {
  let engine: TestEngine;
  beforeAll(() => {
    engine = createTestEngine(database());
  });
  afterAll(() => engine.close());
  beforeEach(async () => {
    await sql`truncate items cascade`.execute(database().db);
  });

  const overview = async (input: Ask = {}): Promise<OverviewPage> =>
    (await engine.call("query_items", { operation: "overview", ...input })) as OverviewPage;
  const ofItem = async (itemId: string, input: Ask = {}): Promise<ItemOverview> =>
    (await engine.call("query_items", { operation: "overview", itemId, ...input })) as ItemOverview;
  const idsOf = (rows: readonly { readonly id: string }[]): string[] => rows.map((row) => row.id);

  it("shows the roots, newest first, with their children counted by role and by claim", async () => {
    const { db } = database();
    const older = await plantItem(db, { title: "older", createdAgo: 100 });
    const root = await plantItem(db, { title: "newer", type: "project", tags: ["x"], createdAgo: 50 });
    const child = await plantItem(db, {
      parentId: root,
      role: "work",
      claim: { agent: "a", ttlSeconds: 60 },
    });
    await plantItem(db, { parentId: root, role: "terminal" });
    await plantItem(db, { parentId: child });
    const page = await overview();
    expect(idsOf(page.items)).toEqual([root, older]);
    expect(page).toMatchObject({ total: 2, truncated: false, offset: 0 });
    expect(page.items[0]).toMatchObject({
      title: "newer",
      depth: 0,
      type: "project",
      tags: "x",
      childCounts: { queue: 0, work: 1, review: 0, blocked: 0, terminal: 1 },
      claimSummary: { active: 1, expired: 0, unclaimed: 1 },
    });
    expect(page.items[0]).not.toHaveProperty("children");
    await database().advance(60_000);
    const [first] = (await overview({ includeChildren: true })).items;
    expect(first?.claimSummary).toEqual({ active: 0, expired: 1, unclaimed: 1 });
    expect(first?.children?.find((one) => one.id === child)).toMatchObject({
      parentId: root,
      childCounts: { queue: 1, work: 0, review: 0, blocked: 0, terminal: 0 },
    });
  });

  it("shows one item in full with its children", async () => {
    const { db } = database();
    const root = await plantItem(db, { title: "root", description: "what it is about" });
    const [open = "", closed = ""] = await plantGraph(
      db,
      [{ parentId: root }, { parentId: root, role: "terminal" }],
      [],
    );
    await plantItem(db, { parentId: open, role: "blocked" });
    const whole = await ofItem(root);
    expect(whole.item).toMatchObject({ id: root, description: "what it is about" });
    expect(whole.childCounts).toEqual({ queue: 1, work: 0, review: 0, blocked: 0, terminal: 1 });
    expect(idsOf(whole.children).toSorted()).toEqual([open, closed].toSorted());
    expect(whole.children.find((one) => one.id === open)?.childCounts.blocked).toBe(1);
    const some = await ofItem(root, { excludeTerminal: true });
    expect(idsOf(some.children)).toEqual([open]);
    expect(some.childCounts.terminal).toBe(1);
  });

  it("shows the children of an anchor, with whole subtrees counted", async () => {
    const { db } = database();
    const anchor = await plantItem(db, { title: "anchor" });
    const child = await plantItem(db, { parentId: anchor });
    const grandchild = await plantItem(db, { parentId: child, role: "work" });
    await plantItem(db, { parentId: grandchild });
    await plantItem(db, { title: "another root" });
    const page = await overview({ anchorId: anchor });
    expect(page.anchor).toEqual({ id: anchor, title: "anchor" });
    expect(page).toMatchObject({ total: 1, truncated: false });
    expect(page.items).toMatchObject([
      { id: child, childCounts: { queue: 1, work: 1, review: 0, blocked: 0, terminal: 0 } },
    ]);
    expect(page.items[0]).not.toHaveProperty("claimSummary");
  });

  it("without what is closed, a closed container with open items far below stays, in every mode [B80]", async () => {
    const { db } = database();
    const closedRoot = async (leaf: "queue" | "terminal", parentId: string | null): Promise<string> => {
      const top = await plantItem(db, { parentId, role: "terminal" });
      const middle = await plantItem(db, { parentId: top, role: "terminal" });
      await plantItem(db, { parentId: middle, role: leaf });
      return top;
    };
    const root = await plantItem(db, {});
    const kept = await closedRoot("queue", null);
    const gone = await closedRoot("terminal", null);
    const keptBelow = await closedRoot("queue", root);
    const goneBelow = await closedRoot("terminal", root);

    const roots = await overview({ excludeTerminal: true });
    expect(idsOf(roots.items).toSorted()).toEqual([root, kept].toSorted());
    expect(roots.total).toBe(2);
    const anchored = await overview({ anchorId: root, excludeTerminal: true });
    expect([idsOf(anchored.items), anchored.total]).toEqual([[keptBelow], 1]);
    const scoped = await ofItem(root, { excludeTerminal: true });
    expect([idsOf(scoped.children), scoped.total]).toEqual([[keptBelow], 1]);

    expect(idsOf((await overview()).items)).toContain(gone);
    expect(idsOf((await ofItem(root)).children)).toContain(goneBelow);
  });

  it("pages without overlap, in every mode", async () => {
    const { db } = database();
    const root = await plantItem(db, {});
    await plantGraph(
      db,
      Array.from({ length: 6 }, () => ({ parentId: root, createdAgo: 5 })),
      [],
    );
    const anchored = await Promise.all(
      [0, 4].map((offset) => overview({ anchorId: root, limit: 4, offset })),
    );
    const scoped = await Promise.all([0, 4].map((offset) => ofItem(root, { limit: 4, offset })));
    expect(new Set(anchored.flatMap((page) => idsOf(page.items))).size).toBe(6);
    expect(new Set(scoped.flatMap((page) => idsOf(page.children))).size).toBe(6);
    for (const pages of [anchored, scoped]) {
      expect(pages.map((page) => [page.returned, page.total, page.truncated])).toEqual([
        [4, 6, true],
        [2, 6, false],
      ]);
    }
  });

  it("refuses two subjects at once, filters it does not have, and items that are not there", async () => {
    const id = await plantItem(database().db, {});
    await expect(ofItem(id, { anchorId: id })).rejects.toThrow(/anchorId: does not go with itemId/);
    await expect(overview({ role: "work" })).rejects.toThrow(
      /role: does not go with overview, but with search/,
    );
    await expect(overview({ limit: 101 })).rejects.toThrow(/at most 100/);
    await expect(ofItem(randomUUID())).rejects.toMatchObject({ code: "RESOURCE_NOT_FOUND" });
    await expect(overview({ anchorId: randomUUID() })).rejects.toMatchObject({ code: "RESOURCE_NOT_FOUND" });
  });
});
