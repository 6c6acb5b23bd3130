/**
 * The plans of choosing, over a hundred thousand items: which index is walked, how many rows are
 * looked at and thrown away. Times are not asserted; a plan that walks what it must not is.
 */
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listStuck } from "../../../db/stores/blocked-store.ts";
import { rankRoots } from "../../../db/stores/next-roots.ts";
import { type CandidateSql, candidateSql, pathsFor, WALK_ROWS } from "../../../db/stores/next-sql.ts";
import { selectCandidates } from "../../../db/stores/next-store.ts";
import { Parameters, type SelectorFilter } from "../../../db/stores/readiness-sql.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { explained, type PlanFacts } from "./explained.ts";
import { type ManyItems, plantMany } from "./plant-many.ts";

/** One root in ten; a set of a hundredth of the tree, with room to spare. */
const SET_ROWS = 1_000;

describe("choosing among 100,000 items", () => {
  let database: TestDatabase;
  let many: ManyItems;
  beforeAll(async () => {
    database = await createTestDatabase({ kind: "pg" });
    many = await plantMany(database.db);
  }, 240_000);
  afterAll(() => database.close());

  it("unfiltered, it reads the head of the ranked index", async () => {
    for (const lock of [false, true]) {
      const [seen] = await plansOf({}, { lock });
      expect(seen).toMatchObject({ rows: 1, sorted: 0, sequential: [] });
      expect(seen?.indexes).toContain("item_state_ready_rank");
      expect(seen?.handled).toBeLessThanOrEqual(1);
    }
  });

  it("by age, it reads the head of the index by age, past 10,000 older items that wait", async () => {
    for (const ranking of ["oldest", "newest"] as const) {
      const [seen] = await plansOf({}, { ranking });
      expect(seen).toMatchObject({ rows: 1, sorted: 0, sequential: [] });
      expect(seen?.indexes).toContain("item_state_ready_age");
      expect(seen?.handled).toBeLessThanOrEqual(1);
    }
  });

  it("with tags on one item in a hundred, it walks a bounded stretch and then collects the set", async () => {
    for (const lock of [false, true]) {
      const [walk, set] = await plansOf({ tags: ["rare"] }, { lock });
      expect(walk).toMatchObject({ sorted: 0, sequential: [] });
      expect(walk?.indexes).toContain("item_state_ready_rank");
      expect(walk?.handled).toBeLessThanOrEqual(WALK_ROWS);
      expect(set).toMatchObject({ sequential: [] });
      expect(set?.rows).toBeGreaterThan(0);
      expect(set?.indexes).toContain("items_tags");
      expect(set?.handled).toBeLessThanOrEqual(SET_ROWS);
    }
  });

  it("with tags that nothing has, it looks at a bounded stretch and no more", async () => {
    const plans = await plansOf({ tags: ["nothing"] });
    expect(plans.map((plan) => plan.rows)).toEqual([0, 0]);
    for (const plan of plans) expect(plan.handled).toBeLessThanOrEqual(WALK_ROWS);
    for (const plan of plans) expect(plan.sequential).toEqual([]);
  });

  it("with tags at the very end of the ranking, it finds them without walking there", async () => {
    const [walk, set] = await plansOf({ tags: ["late"] });
    expect(walk?.rows).toBe(0);
    expect(set).toMatchObject({ rows: 1, sequential: [] });
    expect(set?.handled).toBeLessThanOrEqual(WALK_ROWS);
  });

  it("with a type, it finds the set through the content's own index", async () => {
    const [walk, set] = await plansOf({ type: "chore" });
    expect(walk?.handled).toBeLessThanOrEqual(WALK_ROWS);
    expect(set?.indexes).toContain("items_type");
    expect(set?.handled).toBeLessThanOrEqual(SET_ROWS);
  });

  it("within a root, it walks that root's own stretch of the ranking", async () => {
    const [walk] = await plansOf({ ancestorId: many.roots[9] });
    expect(walk).toMatchObject({ rows: 1, sorted: 0, sequential: [] });
    expect(walk?.indexes).toContain("item_state_ready_root");
    expect(walk?.handled).toBeLessThanOrEqual(WALK_ROWS);
  });

  it("within a subtree, it walks the root's stretch and then collects the subtree", async () => {
    const plans = await plansOf({ ancestorId: many.feature });
    for (const plan of plans) expect(plan).toMatchObject({ sequential: [] });
    for (const plan of plans) expect(plan.handled).toBeLessThanOrEqual(SET_ROWS);
    expect(plans.at(-1)).toMatchObject({ rows: 1 });
  });

  it("among the children of one parent, it reads the head of their own ranking", async () => {
    const [seen] = await plansOf({ parentId: many.feature });
    expect(seen).toMatchObject({ rows: 1, sorted: 0, sequential: [] });
    expect(seen?.indexes).toContain("item_state_ready_parent");
    expect(seen?.handled).toBeLessThanOrEqual(1);
  });

  it("10,000 children of a blocked item are not looked at, by parent or by subtree", async () => {
    for (const filter of [{ parentId: many.blockedParent }, { ancestorId: many.blockedParent }]) {
      const plans = await plansOf(filter);
      for (const plan of plans) expect(plan).toMatchObject({ rows: 0, sequential: [] });
      for (const plan of plans) expect(plan.handled).toBeLessThanOrEqual(1);
    }
  });

  it("when roots take turns, it jumps from root to root and reads the head of each", async () => {
    const roots = await rankRoots(database.db, { role: "queue", containers: false }, many.roots[4] ?? "");
    expect(roots.toSorted()).toEqual(many.roots);
    const [seen] = await plansOf({}, { ranking: "fair", roots });
    expect(seen).toMatchObject({ rows: 1, sequential: [] });
    expect(seen?.indexes).toContain("item_state_ready_root");
    expect(seen?.handled).toBeLessThanOrEqual(many.roots.length);
  });

  it("equal selectors make equal text, whatever their values", () => {
    const text = (tags: string[]): string => candidateSql(asked({ tags }, {}), "walk", new Parameters());
    expect(text(["a"])).toBe(text(["b", "c"]));
  });

  it("lists what is stuck through an index that claims never touch", async () => {
    const { total, rows } = await listStuck(database.db, { filter: {}, limit: 10, offset: 0 });
    expect(total).toBe(10_001);
    expect(rows.every((row) => row.above > 0 || row.blockers > 0)).toBe(true);
  });

  it("passes over 10,000 more urgent items that wait", async () => {
    const query = {
      asker: { agent: "a", capabilities: [] },
      roles: ["queue"] as const,
      containers: false,
      startable: false,
    };
    const found = await selectCandidates(database.db, {
      ...query,
      filter: {},
      ranking: "priority",
      limit: 3,
    });
    expect(found).toHaveLength(3);
    const { rows } = await sql<{ waiting: number }>`select count(*)::int as waiting from item_state
      where item_id = any(${found}::uuid[]) and ancestor_blockers > 0`.execute(database.db);
    expect(rows).toEqual([{ waiting: 0 }]);
  });

  function asked(filter: SelectorFilter, change: Partial<CandidateSql>): CandidateSql {
    return {
      filter,
      asker: { agent: "a", capabilities: [] },
      role: "queue",
      containers: false,
      startable: false,
      ranking: "priority",
      limit: 1,
      lock: false,
      ...change,
    };
  }

  /** The plan of every step that the filter has, each run to its end. */
  async function plansOf(filter: SelectorFilter, change: Partial<CandidateSql> = {}): Promise<PlanFacts[]> {
    const query = asked(filter, change);
    const plans: PlanFacts[] = [];
    for (const path of pathsFor(query)) {
      const parameters = new Parameters();
      const text = candidateSql(query, path, parameters);
      plans.push(await explained(database.db, text, parameters.values));
    }
    return plans;
  }
});
