import fc from "fast-check";
import { sql } from "kysely";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { createTestEngine, type TestEngine, worker } from "../support/engine.ts";
import { plantGraph } from "../support/fixtures.ts";
import { randomGraph, type RandomGraph } from "../support/random-graph.ts";

const ROLES = "queue,work,review";
const STUCK = new Set(["dead", "role", "dependency_blocked", "ancestor_blocked"]);
const GRAPHS = 1_000;
/** Compared side by side, each by a worker of its own. */
const BATCH = 20;

/** Every view that says which items of a graph are offered to a stranger. One more view is one more entry. */
const VIEWS: Readonly<Record<string, (engine: TestEngine, graph: RandomGraph) => Promise<string[]>>> = {
  next: async (engine, { root }) => {
    const next = await engine.call("get_next_item", { role: ROLES, ancestorId: root, limit: 20 });
    return next.recommendations.map((one: { itemId: string }) => one.itemId);
  },
  "list(ready)": async (engine, { root }) => {
    const list = await engine.call("query_items", { operation: "search", readiness: "ready", role: ROLES, ancestorId: root });
    return list.items.map((one: { id: string }) => one.id);
  },
  detail: async (engine, { items }) => {
    const details = await Promise.all(items.map(({ id }) => engine.call("query_items", { operation: "get", itemId: id })));
    return details.filter((one) => one.ready).map((one) => one.id);
  },
};

describe("the views of readiness", () => {
  let database: TestDatabase;
  let engine: TestEngine;
  beforeAll(async () => {
    database = await createTestDatabase({ kind: "pg" });
    engine = createTestEngine(database);
  });
  afterAll(async () => {
    await engine.close();
    await database.close();
  });

  it(
    "agree about every item of 1,000 random graphs: next, claim, lists, detail, explain [S30]",
    async () => {
      const graphs = fc.sample(randomGraph(5), { numRuns: GRAPHS });
      for (let at = 0; at < graphs.length; at += BATCH) {
        const batch = graphs.slice(at, at + BATCH);
        await plantGraph(database.db, batch.flatMap((one) => one.items), batch.flatMap((one) => one.edges));
        await Promise.all(batch.map(compare));
        await sql`truncate items cascade`.execute(database.db);
      }
    },
    300_000,
  );

  async function compare(graph: RandomGraph): Promise<void> {
    const explained = await Promise.all(graph.items.map(({ id }) => engine.call("explain_item", { itemId: id })));
    const offered = explained.filter((one) => one.offered).map((one) => one.itemId);
    for (const [name, view] of Object.entries(VIEWS)) {
      expect((await view(engine, graph)).toSorted(), `${name} of ${JSON.stringify(graph)}`).toEqual(offered.toSorted());
    }
    const open = explained.filter((one) => one.role !== "terminal");
    const stuck = open.filter((one) => one.reasons.some(({ code }: { code: string }) => STUCK.has(code)));
    const stuckIds = stuck.map((one) => one.itemId).toSorted();
    const listed = await engine.call("query_items", { operation: "search", readiness: "blocked", ancestorId: graph.root });
    expect(listed.items.map((one: { id: string }) => one.id).toSorted()).toEqual(stuckIds);
    const blocked = await engine.call("get_blocked_items", { ancestorId: graph.root });
    expect(blocked.blockedItems.map((one: { itemId: string }) => one.itemId).toSorted()).toEqual(stuckIds);
    await compareClaim(graph);
  }

  /** A claim takes what would be recommended first, and nothing when nothing would. */
  async function compareClaim({ root }: RandomGraph): Promise<void> {
    const next = await engine.call("get_next_item", { role: ROLES, ancestorId: root, limit: 1, agent: "cleo" });
    const selector = { role: ROLES, ancestorId: root };
    const call = { actor: worker("cleo"), requestId: randomUUID(), workerId: `cleo-${root}` };
    const { claims } = await engine.call("claim_item", { ...call, claims: [{ selector }] });
    expect(claims[0].itemId).toBe(next.recommendations[0]?.itemId);
  }
});
