import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { Backlinks, DependencyEdges } from "../../../services/contract/operations/query-dependencies.ts";
import type { RequestOf } from "../../../services/contract/registry.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { plantEdge, plantGraph, plantItem } from "../../support/fixtures.ts";

type Ask = Omit<RequestOf<"query_dependencies">, "itemId" | "operation">;

describeEachDatabase("query_dependencies", (database) => {
  let engine: TestEngine;
  beforeAll(() => {
    engine = createTestEngine(database());
  });
  afterAll(() => engine.close());
  beforeEach(async () => {
    await sql`truncate items cascade`.execute(database().db);
  });

  const edges = async (itemId: string, input: Ask = {}): Promise<DependencyEdges> =>
    (await engine.call("query_dependencies", { itemId, ...input })) as DependencyEdges;
  const backlinks = async (itemId: string, input: Ask = {}): Promise<Backlinks> =>
    (await engine.call("query_dependencies", { operation: "backlinks", itemId, ...input })) as Backlinks;
  const ends = ({ dependencies }: DependencyEdges): string[][] =>
    dependencies.map((one) => [one.fromItemId, one.toItemId]);
  const relate = async (from: string, to: string): Promise<void> => {
    await sql`insert into dependencies (id, from_item, to_item, type)
      values (${randomUUID()}, ${from}, ${to}, 'RELATES_TO')`.execute(database().db);
  };
  const items = async (count: number): Promise<string[]> =>
    await plantGraph(
      database().db,
      Array.from({ length: count }, (_, n) => ({ title: `item ${n}` })),
      [],
    );

  it("lists the edges of an item by direction and type, and counts them all", async () => {
    const { db } = database();
    const [a = "", b = "", c = "", d = ""] = await items(4);
    await plantEdge(db, a, b, { unblockAt: "work" });
    await plantEdge(db, b, c);
    await relate(b, d);
    const all = await edges(b);
    expect(all).toMatchObject({
      counts: { incoming: 1, outgoing: 1, relatesTo: 1 },
      total: 3,
      hasMore: false,
    });
    expect(all.dependencies[0]).toMatchObject({
      fromItemId: a,
      toItemId: b,
      type: "BLOCKS",
      unblockAt: "work",
      effectiveUnblockRole: "work",
      satisfied: false,
    });
    expect(all).not.toHaveProperty("graph");
    expect(ends(await edges(b, { direction: "incoming" }))).toEqual([[a, b]]);
    expect(ends(await edges(b, { direction: "outgoing", type: "BLOCKS" }))).toEqual([[b, c]]);
    expect(ends(await edges(b, { type: "RELATES_TO" }))).toEqual([[b, d]]);
    expect(await edges(b, { type: "RELATES_TO" })).toMatchObject({ counts: { incoming: 1 }, total: 1 });
  });

  it("reads a type in either spelling; what an item is blocked by are the edges into it", async () => {
    const { db } = database();
    const [a = "", b = "", c = ""] = await items(3);
    await plantEdge(db, a, b);
    await plantEdge(db, b, c);
    for (const type of ["IS_BLOCKED_BY", "is-blocked-by", "is_blocked_by"])
      expect(ends(await edges(b, { type } as Ask))).toEqual([[a, b]]);
    expect(ends(await edges(b, { type: "IS_BLOCKED_BY", direction: "incoming" }))).toEqual([[b, c]]);
  });

  it("shows what is at both ends when asked", async () => {
    const { db } = database();
    const a = await plantItem(db, { title: "Design", role: "terminal", priority: "high" });
    const b = await plantItem(db, { title: "Build" });
    await plantEdge(db, a, b);
    const [edge] = (await edges(b, { includeItemInfo: true })).dependencies;
    expect(edge).toMatchObject({
      fromItem: { title: "Design", role: "terminal", priority: "high" },
      toItem: { title: "Build", role: "queue", priority: "medium" },
      satisfied: true,
    });
  });

  it("orders the graph around an item, blockers first, and stops at the depth that it is told", async () => {
    const { db } = database();
    const [a = "", b = "", c = "", d = "", e = "", stranger = ""] = await items(6);
    // a → b → d → e, a → c → d; a also holds up a stranger, which is nothing to d.
    for (const [from, to] of [
      [a, b],
      [a, c],
      [b, d],
      [c, d],
      [d, e],
      [a, stranger],
    ] as const)
      await plantEdge(db, from, to);
    const { graph } = await edges(d, { neighborsOnly: false });
    expect(graph).toMatchObject({ depth: 3, truncated: false });
    expect(graph?.chain.toSorted()).toEqual([a, b, c, d, e].toSorted());
    expect([graph?.chain[0], ...(graph?.chain.slice(3) ?? [])]).toEqual([a, d, e]);
    const near = await edges(d, { neighborsOnly: false, depth: 1 });
    expect(near.graph?.chain.toSorted()).toEqual([b, c, d, e].toSorted());
    expect(near.graph?.depth).toBe(2);
    const before = await edges(d, { neighborsOnly: false, direction: "incoming" });
    expect(before.graph?.chain.toSorted()).toEqual([a, b, c, d].toSorted());
  });

  it("goes through a thousand items and no further, and says that there are more", async () => {
    const { db } = database();
    const ids = await items(1_050);
    await plantGraph(
      db,
      [],
      ids.slice(1).map((to, at) => ({ from: ids[at] ?? "", to })),
    );
    const { graph } = await edges(ids[0] ?? "", { neighborsOnly: false });
    expect(graph?.chain).toEqual(ids.slice(0, 1_000));
    expect(graph).toMatchObject({ depth: 999, truncated: true });
  });

  it("pages without overlap", async () => {
    const { db } = database();
    const [hub = "", ...others] = await items(12);
    await plantGraph(
      db,
      [],
      others.map((to) => ({ from: hub, to })),
    );
    const pages = await Promise.all([0, 5, 10].map((offset) => edges(hub, { limit: 5, offset })));
    expect(pages.map((page) => [page.returned, page.total, page.hasMore])).toEqual([
      [5, 11, true],
      [5, 11, true],
      [1, 11, false],
    ]);
    expect(
      pages
        .flatMap(ends)
        .map(([, to]) => to ?? "")
        .toSorted(),
    ).toEqual(others.toSorted());
  });

  it("finds who points at an item, with a relation from either side", async () => {
    const { db } = database();
    const [a = "", b = "", c = "", d = ""] = await items(4);
    await plantEdge(db, a, b);
    await plantEdge(db, b, c);
    await relate(b, d);
    const all = await backlinks(b);
    expect(all).toMatchObject({ total: 2, hasMore: false });
    expect(all.backlinks.map((one) => [one.fromItemId, one.fromTitle, one.type])).toEqual([
      [a, "item 0", "BLOCKS"],
      [d, "item 3", "RELATES_TO"],
    ]);
    expect((await backlinks(b, { type: "BLOCKS" })).backlinks).toHaveLength(1);
    expect((await backlinks(b, { type: "IS_BLOCKED_BY" })).backlinks).toMatchObject([
      { fromItemId: c, type: "IS_BLOCKED_BY" },
    ]);
  });

  it("refuses what it would ignore, and items that are not there", async () => {
    const id = await plantItem(database().db);
    await expect(edges(id, { depth: 2 })).rejects.toThrow(/depth: goes with neighborsOnly: false/);
    await expect(backlinks(id, { direction: "incoming" })).rejects.toThrow(/does not go with backlinks/);
    await expect(edges(id, { limit: 101 })).rejects.toThrow(/at most 100/);
    await expect(edges(randomUUID())).rejects.toMatchObject({ code: "RESOURCE_NOT_FOUND" });
  });
});
