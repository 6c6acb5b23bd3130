import { sample } from "fast-check";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Asking, asking } from "../support/asking.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { createTestEngine, type TestEngine } from "../support/engine.ts";
import { plantGraph } from "../support/fixtures.ts";
import { randomGraph, type RandomGraph } from "../support/random-graph.ts";

const ROLES = "queue,work,review";
const STUCK = new Set(["dead", "role", "dependency_blocked", "ancestor_blocked"]);
const GRAPHS = 1_000;
/** Compared side by side, each by a worker of its own. */
const BATCH = 20;

/** Every view that says which items of a graph are offered to a stranger. One more view is one more entry. */
const VIEWS: Readonly<Record<string, (reads: Asking, graph: RandomGraph) => Promise<string[]>>> = {
  next: async ({ next }, { root }) => {
    const { recommendations } = await next({ role: ROLES, ancestorId: root, limit: 20 });
    return recommendations.map((one) => one.itemId);
  },
  "list(ready)": async ({ search }, { root }) => {
    const { items } = await search({ readiness: "ready", role: ROLES, ancestorId: root });
    return items.map((one) => one.id);
  },
  detail: async ({ get }, { items }) => {
    const details = await Promise.all(items.map(({ id }) => get(id)));
    return details.filter((one) => one.ready).map((one) => one.id);
  },
};

describe("the views of readiness", () => {
  let database: TestDatabase;
  let engine: TestEngine;
  let reads: Asking;
  beforeAll(async () => {
    database = await createTestDatabase({ kind: "pg" });
    engine = createTestEngine(database);
    reads = asking(engine);
  });
  afterAll(async () => {
    await engine.close();
    await database.close();
  });

  it("agree about every item of 1,000 random graphs: next, claim, lists, detail, explain [S30]", async () => {
    const graphs = sample(randomGraph(5), { numRuns: GRAPHS });
    for (let at = 0; at < graphs.length; at += BATCH) {
      const batch = graphs.slice(at, at + BATCH);
      const items = batch.flatMap((one) => one.items);
      const edges = batch.flatMap((one) => one.edges);
      await plantGraph(database.db, items, edges);
      await Promise.all(batch.map(compare));
      await sql`truncate items cascade`.execute(database.db);
    }
  }, 300_000);

  async function compare(graph: RandomGraph): Promise<void> {
    const explained = await Promise.all(graph.items.map(({ id }) => reads.explain(id)));
    const offered = explained.filter((one) => one.offered).map((one) => one.itemId);
    for (const [view, read] of Object.entries(VIEWS)) {
      const seen = { view, graph, offered: (await read(reads, graph)).toSorted() };
      expect(seen).toEqual({ view, graph, offered: offered.toSorted() });
    }
    const open = explained.filter((one) => one.role !== "terminal");
    const stuck = open.filter((one) => one.reasons.some(({ code }) => STUCK.has(code)));
    const stuckIds = stuck.map((one) => one.itemId).toSorted();
    const listed = await reads.search({ readiness: "blocked", ancestorId: graph.root });
    expect(listed.items.map((one) => one.id).toSorted()).toEqual(stuckIds);
    const blocked = await reads.blocked({ ancestorId: graph.root });
    expect(blocked.blockedItems.map((one) => one.itemId).toSorted()).toEqual(stuckIds);
    await compareClaim(graph);
  }

  /** A claim takes what would be recommended first, and nothing when nothing would. */
  async function compareClaim({ root }: RandomGraph): Promise<void> {
    const selector = { role: ROLES, ancestorId: root };
    const { recommendations } = await reads.next({ ...selector, limit: 1, agent: "cleo" });
    const result = await reads.claim("cleo", { selector }, { workerId: `cleo-${root}` });
    expect(result.itemId).toBe(recommendations[0]?.itemId);
  }
});
