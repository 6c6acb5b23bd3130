/**
 * The plans of searching, over a hundred thousand items and two thousand notes: words are found through
 * their indexes, and claims touch none of these. Times are not asserted; a plan that reads the table is.
 */
import { CompiledQuery, sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ItemConditions } from "../../../db/stores/item-read-store.ts";
import { Parameters } from "../../../db/stores/readiness-sql.ts";
import { CANDIDATES_MAX, searchSql, type SearchWay } from "../../../db/stores/search-sql.ts";
import { findTexts } from "../../../db/stores/search-store.ts";
import { tokensOf } from "../../../services/contract/searching.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { createTestEngine } from "../../support/engine.ts";
import { asking } from "../../support/asking.ts";
import { explained, type PlanFacts } from "./explained.ts";
import { type ManyItems, plantMany } from "./plant-many.ts";

describe("searching among 100,000 items", () => {
  let database: TestDatabase;
  let many: ManyItems;
  beforeAll(async () => {
    database = await createTestDatabase({ kind: "pg" });
    many = await plantMany(database.db);
    // Root by root: the indexes of words take their time for so many at once.
    for (const root of many.roots) {
      await sql`insert into search_texts select t.* from items i cross join lateral search_text_of(i) t
        where i.root_id = ${root}`.execute(database.db);
    }
    await sql`update items set summary = 'the zirconium valve number ' || right(id::text, 4) || ' leaks'
      where tags && array['rare']`.execute(database.db);
    await sql`insert into notes (id, item_id, key, role, body)
      select gen_random_uuid(), id, 'note', 'work', 'nothing to say but gasket ' || left(id::text, 3)
      from items limit 2000`.execute(database.db);
    await sql`vacuum analyze search_texts`.execute(database.db);
  }, 240_000);
  afterAll(() => database.close());

  it("finds a rare word through the index of its way, and reads no table from end to end", async () => {
    const found = await plan("zirconium", ["trigram", "text"]);
    expect(found.sequential).toEqual([]);
    expect(found.indexes).toContain("search_texts_lexemes");
    expect(found.indexes).toContain("search_texts_body");
    // One leaf in a hundred has it; each is looked at once in either way, and joined to its state.
    expect(found.handled).toBeLessThanOrEqual(5_000);
  });

  it("finds nearly the right title through the index of titles", async () => {
    const found = await plan("finishd", ["similar"]);
    expect(found.sequential).toEqual([]);
    expect(found.indexes).toContain("search_texts_head");
  });

  it("filters while it finds: a scope that has few of many matches gives all of them", async () => {
    const within: ItemConditions = { filter: { ancestorId: many.feature } };
    const { total, capped } = await search("leaf", within);
    expect([total, capped]).toEqual([890, false]);
    expect((await plan("zirconium leaks", ["trigram", "text"], within)).sequential).toEqual([]);
  });

  it("a word that nearly everything has is ranked up to a cap, says so, and pages as any other", async () => {
    const first = await search("leaf");
    expect(first).toMatchObject({ capped: true });
    expect(first.total).toBeGreaterThanOrEqual(CANDIDATES_MAX);
    expect(first.total).toBeLessThanOrEqual(2 * CANDIDATES_MAX);
    const second = await search("leaf", { filter: {} }, 20);
    expect(second.total).toBe(first.total);
    const ids = [...first.rows, ...second.rows].map((row) => row.id);
    expect(new Set(ids).size).toBe(40);
  });

  it("equal shapes of queries make equal text, so that the statement stays prepared", () => {
    const text = (query: string): string => searchSql(asked(query, ["trigram", "text"]), new Parameters());
    expect(text("one word")).toBe(text("two words"));
  });

  it("claiming and finishing an item writes nothing that search looks through", async () => {
    const engine = createTestEngine(database);
    try {
      const { claim, advance } = asking(engine);
      const before = await writesOfSearch();
      const taken = await claim("w", { selector: { tags: "rare" } });
      expect(taken).toMatchObject({ outcome: "success" });
      const itemId = String(taken.itemId);
      await advance({ itemId, trigger: "start" }, "w");
      expect(await advance({ itemId, trigger: "complete" }, "w")).toMatchObject({ applied: true });
      expect(await writesOfSearch()).toEqual(before);
    } finally {
      await engine.close();
    }
  });

  function asked(
    query: string,
    ways: readonly SearchWay[],
    within: ItemConditions = { filter: {} },
    offset = 0,
  ) {
    return {
      ways,
      query,
      tokens: tokensOf(query),
      kinds: ["item", "note"] as const,
      within,
      limit: 20,
      offset,
    };
  }

  function search(query: string, within?: ItemConditions, offset?: number) {
    return findTexts(database.db, asked(query, ["trigram", "text"], within, offset));
  }

  /** As a prepared statement runs: planned without knowing the words. */
  async function plan(
    query: string,
    ways: readonly SearchWay[],
    within?: ItemConditions,
  ): Promise<PlanFacts> {
    const parameters = new Parameters();
    const text = searchSql(asked(query, ways, within), parameters);
    return await explained(database.db, text, parameters.values);
  }

  /** Versions of rows that any transaction has written, of which the last has to be ours. */
  async function writesOfSearch(): Promise<unknown> {
    const { rows } = await database.db.executeQuery(
      CompiledQuery.raw("select count(*), max(xmin::text::bigint) as latest from search_texts"),
    );
    return rows;
  }
});
