import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { plantGraph, type EdgeFixture, type ItemFixture } from "../../support/fixtures.ts";
import { agent, stateOf } from "../claims/calls.ts";
import { advanceCall, moved } from "./board.ts";
import { watchDatabase, type WatchedDatabase } from "./watched-database.ts";

const ann = agent("ann");

/** A tree and edges in one planting. */
class Planting {
  readonly items: ItemFixture[] = [];
  readonly edges: EdgeFixture[] = [];

  item(item: ItemFixture = {}): string {
    const id = randomUUID();
    this.items.push({ ...item, id });
    return id;
  }

  many(count: number, item: ItemFixture = {}): string[] {
    return Array.from({ length: count }, () => this.item(item));
  }

  blocks(from: string, to: string): void {
    this.edges.push({ from, to });
  }
}

describe("the cost of a transition", () => {
  let database: TestDatabase;
  let watched: WatchedDatabase;
  let engine: TestEngine;

  beforeAll(async () => {
    database = await createTestDatabase({ kind: "pg" });
    watched = watchDatabase(database.url ?? "");
    engine = createTestEngine(watched);
  });
  afterAll(async () => {
    await engine.close();
    await watched.close();
    await database.close();
  });

  async function plant<T>(work: (planting: Planting) => T): Promise<T> {
    const planting = new Planting();
    const named = work(planting);
    await plantGraph(database.db, planting.items, planting.edges);
    return named;
  }

  /** Statements and tries of one transition. */
  async function costOf(
    itemId: string,
    trigger = "complete",
  ): Promise<{ statements: number; tries: number }> {
    watched.taken();
    await moved({ engine }, ann, itemId, trigger);
    const taken = watched.taken();
    return { statements: taken.length, tries: taken.filter((name) => name === "world_lock").length };
  }

  it("does not grow with siblings and dependents", async () => {
    const shape = (size: number) =>
      plant((planting) => {
        const parentId = planting.item();
        const [leaf = ""] = planting.many(size, { parentId });
        const dependents = planting.many(size);
        for (const dependent of dependents) planting.blocks(leaf, dependent);
        return { leaf, dependents };
      });
    const small = await shape(2);
    const large = await shape(200);
    const few = await costOf(small.leaf);
    const many = await costOf(large.leaf);
    expect(many).toEqual(few);
    expect(many.tries).toBe(1);
    const rows = await database.db
      .selectFrom("item_state")
      .select("blockers")
      .where("item_id", "in", large.dependents)
      .execute();
    expect(rows.filter((row) => row.blockers === 0)).toHaveLength(200);
  });

  it("asks again at most twice when a chain of twenty starts, closes and opens again up to the root", async () => {
    const chain = await plant((planting) => {
      const ids: string[] = [];
      for (let level = 0; level < 20; level += 1) ids.push(planting.item({ parentId: ids.at(-1) ?? null }));
      return ids;
    });
    const leaf = chain.at(-1) ?? "";
    for (const [trigger, role] of [
      ["start", "work"],
      ["complete", "terminal"],
      ["reopen", "work"],
    ] as const) {
      expect((await costOf(leaf, trigger)).tries).toBeLessThanOrEqual(3);
      const above = database.db
        .selectFrom("item_state")
        .select("role")
        .where("item_id", "in", chain.slice(0, -1));
      expect(new Set((await above.execute()).map((row) => row.role))).toEqual(new Set([role]));
    }
  });

  it("asks again at most three times when every parent that closes is waited for by many, some with children", async () => {
    const { leaf, followers, below } = await plant((planting) => {
      const chain: string[] = [];
      const [waiting, lower]: [string[], string[]] = [[], []];
      for (let level = 0; level < 10; level += 1) {
        chain.push(planting.item({ parentId: chain.at(-1) ?? null, role: "work" }));
      }
      for (const id of chain) {
        const follower = planting.item();
        lower.push(planting.item({ parentId: planting.item({ parentId: follower }) }));
        for (const to of [follower, ...planting.many(20)]) {
          planting.blocks(id, to);
          waiting.push(to);
        }
      }
      return { leaf: chain.at(-1) ?? "", followers: waiting, below: lower };
    });
    const { tries } = await costOf(leaf);
    // One for the chain, one for the subtrees of what waits for the leaf, one for those of what waits above.
    expect(tries).toBeLessThanOrEqual(4);
    const states = await database.db
      .selectFrom("item_state")
      .select(["blockers", "ancestor_blockers"])
      .where("item_id", "in", [...followers, ...below])
      .execute();
    expect(states.filter((row) => row.blockers + row.ancestor_blockers > 0)).toEqual([]);
  });

  it("many callers at once share flushes, and a parent that is locked as somebody's dependent frees its own", async () => {
    const { root, leaf, before, after } = await plant((planting) => {
      const top = planting.item({ role: "work" });
      const mid = planting.item({ parentId: top, role: "work" });
      const named = {
        root: top,
        leaf: planting.item({ parentId: mid }),
        before: planting.item(),
        after: planting.item(),
      };
      planting.blocks(named.before, top);
      planting.blocks(top, named.after);
      return named;
    });
    const both = [before, leaf].map((itemId) =>
      advanceCall({ engine }, ann, { itemId, trigger: "complete" }),
    );
    for (const { summary } of await Promise.all(both)) expect(summary.succeeded).toBe(1);
    expect(await stateOf(database.db, root)).toMatchObject({ role: "terminal" });
    expect(await stateOf(database.db, after)).toMatchObject({ blockers: 0 });
  });
});
