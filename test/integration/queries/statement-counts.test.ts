import type { KyselyPlugin } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { plantGraph, plantItem } from "../../support/fixtures.ts";

describe("a read", () => {
  let database: TestDatabase;
  let engine: TestEngine;
  let statements = 0;
  const counter: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: ({ result }) => {
      statements += 1;
      return Promise.resolve(result);
    },
  };

  beforeAll(async () => {
    database = await createTestDatabase({ kind: "pglite" });
    engine = createTestEngine({ db: database.db.withPlugin(counter) });
  });
  afterAll(async () => {
    await engine.close();
    await database.close();
  });

  const count = async (name: string, input: object): Promise<number> => {
    statements = 0;
    await engine.call(name, input);
    return statements;
  };

  it("costs a handful of statements, and as many for fifty items as for one", async () => {
    const root = await plantItem(database.db, {});
    await plantTwoUnder(1);
    const calls: [string, object][] = [
      ["query_items", { operation: "search", includeAncestors: true, ancestorId: root }],
      ["query_items", { operation: "get", itemId: root, includeAncestors: true }],
      ["get_next_item", { limit: 20, includeAncestors: true, includeClaimed: true }],
      ["get_blocked_items", { includeAncestors: true }],
      ["explain_item", { itemId: root }],
      ["get_next_status", { itemId: root }],
      ["list_claims", {}],
      ["list_agents", {}],
    ];
    const few = await countAll(calls);
    await plantTwoUnder(49);
    expect(await countAll(calls)).toEqual(few);
    for (const each of few) expect(each).toBeGreaterThan(0);
    expect(Math.max(...few)).toBeLessThanOrEqual(8);

    async function plantTwoUnder(times: number): Promise<void> {
      const rows = Array.from({ length: times }, (_, at) => [
        { parentId: root },
        { parentId: root, claim: { agent: `a${at}` } },
        { parentId: root },
      ]);
      const ids = await plantGraph(database.db, rows.flat(), []);
      const edges = rows.map((_, at) => ({ from: ids[at * 3] ?? "", to: ids[at * 3 + 2] ?? "" }));
      await plantGraph(database.db, [], edges);
    }
  });

  async function countAll(calls: readonly [string, object][]): Promise<number[]> {
    const counts: number[] = [];
    for (const [name, input] of calls) counts.push(await count(name, input));
    return counts;
  }
});
