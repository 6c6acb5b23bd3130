import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { SearchHits } from "../../../services/contract/searching.ts";
import type { RequestOf } from "../../../services/contract/registry.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { plantGraph, plantItem } from "../../support/fixtures.ts";

type Search = Omit<RequestOf<"query_items">, "operation" | "query">;

describeEachDatabase("searching", (database) => {
  let engine: TestEngine;
  beforeAll(() => {
    engine = createTestEngine(database());
  });
  afterAll(() => engine.close());
  beforeEach(async () => {
    await sql`truncate items cascade`.execute(database().db);
  });

  const find = async (query: string | undefined, input: Search = {}): Promise<SearchHits> =>
    (await engine.call("query_items", { operation: "search", query, ...input })) as SearchHits;
  const foundIn = async (query: string | undefined, input: Search = {}): Promise<string[]> =>
    (await find(query, input)).hits.map((hit) => hit.itemId);
  const note = async (itemId: string, key: string, body: string): Promise<string> => {
    const id = randomUUID();
    await sql`insert into notes (id, item_id, key, role, body)
      values (${id}, ${itemId}, ${key}, 'work', ${body})`.execute(database().db);
    return id;
  };

  it("finds items by title, summary, description and tags, and says which", async () => {
    const { db } = database();
    const title = await plantItem(db, { title: "Renew the certificate" });
    const summary = await plantItem(db, { title: "a", summary: "its certificate is too old" });
    const description = await plantItem(db, {
      title: "b",
      description: "x ".repeat(900) + "certificate at the end",
    });
    const tags = await plantItem(db, { title: "c", tags: ["certificate"] });
    await plantItem(db, { title: "nothing of the kind" });
    const { hits, totalHits } = await find("certificate");
    expect(totalHits).toBe(4);
    expect(hits[0]).toMatchObject({
      kind: "item",
      itemId: title,
      title: "Renew the certificate",
      field: "title",
      snippet: "Renew the <mark>certificate</mark>",
      matchedIn: ["trigram", "text"],
    });
    const fields = new Map(hits.map((hit) => [hit.itemId, hit.field]));
    expect(fields.get(summary)).toBe("summary");
    expect(fields.get(description)).toBe("description");
    expect(fields.get(tags)).toBe("tags");
    for (const hit of hits) expect(hit.snippet).toContain("<mark>certificate</mark>");
    for (const hit of hits) expect(hit.snippet?.length).toBeLessThan(250);
  });

  it("finds notes and items in one call, each by its kind", async () => {
    const id = await plantItem(database().db, { title: "Rate limits" });
    const noteId = await note(id, "findings", "the limits are counted twice");
    const both = await find("limits");
    expect(both.hits.map((hit) => hit.kind).toSorted()).toEqual(["item", "note"]);
    expect((await find("limits", { kinds: "note" })).hits).toMatchObject([
      {
        kind: "note",
        noteId,
        itemId: id,
        key: "findings",
        role: "work",
        field: "body",
        title: "Rate limits",
      },
    ]);
    expect((await find("limits", { kinds: "item" })).hits).toMatchObject([{ kind: "item", itemId: id }]);
  });

  it("wants every word, in any of its forms or as a part of one", async () => {
    const { db } = database();
    const [both] = await plantGraph(
      db,
      [{ title: "Migrating databases" }, { title: "Migrating people" }],
      [],
    );
    expect(await foundIn("database migration")).toEqual([both]);
    expect(await foundIn("database billing")).toEqual([]);
    expect(await foundIn("base grat")).toEqual([both]);
    expect(await foundIn("base grat", { matchMode: "text" })).toEqual([]);
    expect(await foundIn("database migration", { matchMode: "substring" })).toEqual([]);
  });

  it("takes hyphens, quotes and operators for plain text [B81]", async () => {
    const { db } = database();
    const id = await plantItem(db, { title: "run foo-bar AND (baz) against 100% of src/main.ts" });
    await plantItem(db, { title: "something else entirely" });
    for (const query of [
      "foo-bar AND (",
      '"foo-bar',
      "src/main",
      "main.ts",
      "100%",
      "foo & bar",
      "'foo' | !",
      "(baz)",
    ]) {
      expect([query, await foundIn(query)]).toEqual([query, [id]]);
    }
    for (const query of ["%%%", "\\", "foo:* <-> nothing"]) {
      expect([query, await foundIn(query)]).toEqual([query, []]);
    }
    expect(await foundIn("NOT foo-bar", { matchMode: "text" })).toEqual([]);
    expect(await foundIn("100_", { matchMode: "substring" })).toEqual([]);
    expect(await foundIn("100%", { matchMode: "substring" })).toEqual([id]);
  });

  it("finds what was typed with other capitals or accents, in any script", async () => {
    const { db } = database();
    const id = await plantItem(db, { title: "Überprüfung der Größe — Проверка 漢字変換" });
    for (const query of ["uberprufung", "GRÖẞE".slice(0, 3), "ПРОВЕРКА", "провер", "漢字"])
      expect([query, await foundIn(query)]).toEqual([query, [id]]);
  });

  it("offers titles that are nearly what was typed, when nothing is exactly that", async () => {
    const { db } = database();
    const id = await plantItem(db, { title: "Authentication service" });
    await plantItem(db, { title: "Billing" });
    expect(await foundIn("authentcation")).toEqual([id]);
    expect(await foundIn("authentcation", { matchMode: "text" })).toEqual([]);
  });

  it("puts a title before a passing mention", async () => {
    const { db } = database();
    const mention = await plantItem(db, {
      title: "Cleanup",
      description: "while at it, look at the scheduler too",
    });
    const title = await plantItem(db, { title: "Scheduler" });
    expect(await foundIn("scheduler")).toEqual([title, mention]);
    const [first] = (await find("scheduler", { explain: true })).hits;
    expect(first?.explain).toEqual({ trigramRank: 1, textRank: 1, rrfK: 60 });
    expect(first?.score).toBeCloseTo(2 / 61, 5);
  });

  it("pages are disjoint and the number of hits stays the same [B81]", async () => {
    const { db } = database();
    const ids = await plantGraph(
      db,
      Array.from({ length: 23 }, (_, n) => ({ title: `same words ${n % 3}` })),
      [],
    );
    const seen: string[] = [];
    let offset: number | null = 0;
    while (offset !== null) {
      const page: SearchHits = await find("same words", { limit: 5, offset });
      expect(page.totalHits).toBe(23);
      expect(page.hasMore).toBe(page.nextOffset !== null);
      seen.push(...page.hits.map((hit) => hit.itemId));
      offset = page.nextOffset;
    }
    expect(seen.toSorted()).toEqual(ids.toSorted());
    expect(await find("same words", { offset: 40 })).toMatchObject({
      hits: [],
      totalHits: 23,
      hasMore: false,
    });
  });

  it("filters while it searches: by subtree, item, tags, role, and whatever lists filter by", async () => {
    const { db } = database();
    const root = await plantItem(db, { title: "needle root" });
    const tagged = await plantItem(db, {
      title: "needle",
      parentId: root,
      tags: ["a", "b"],
      priority: "high",
    });
    const working = await plantItem(db, { title: "needle", parentId: root, role: "work", type: "bug" });
    const other = await plantItem(db, { title: "needle" });
    const noteId = await note(working, "k", "needle");
    const sorted = async (input: Search): Promise<string[]> => (await foundIn("needle", input)).toSorted();
    expect(await sorted({ ancestorId: root, kinds: "item" })).toEqual([root, tagged, working].toSorted());
    expect(await sorted({ scope: { ancestorId: root.slice(0, 8) }, kinds: "item" })).toHaveLength(3);
    expect(await sorted({ parentId: root, kinds: "item" })).toEqual([tagged, working].toSorted());
    expect((await find("needle", { scope: { itemId: working } })).hits.map((hit) => hit.noteId)).toContain(
      noteId,
    );
    expect(await sorted({ scope: { itemId: working } })).toEqual([working, working]);
    expect(await sorted({ scope: { tags: ["b", "c"] } })).toEqual([tagged]);
    expect(await sorted({ scope: { role: "work" }, kinds: "item" })).toEqual([working]);
    expect(await sorted({ priority: "high" })).toEqual([tagged]);
    expect(await sorted({ type: "bug", kinds: "item" })).toEqual([working]);
    expect(await sorted({ depth: 0 })).toEqual([root, other].toSorted());
    expect(await sorted({ claimStatus: "claimed" })).toEqual([]);
  });

  it("finds what a text says now, not what it said before", async () => {
    const { db } = database();
    const id = await plantItem(db, { title: "old words" });
    const noteId = await note(id, "k", "older words");
    await engine.call("manage_items", { operation: "update", items: [{ itemId: id, title: "new words" }] });
    await sql`update notes set body = 'newer words' where id = ${noteId}`.execute(db);
    expect(await foundIn("old", { matchMode: "text" })).toEqual([]);
    expect(await foundIn("new", { matchMode: "text" })).toEqual([id]);
    expect(await foundIn("newer")).toEqual([id]);
    await sql`delete from notes where id = ${noteId}`.execute(db);
    expect(await foundIn("newer")).toEqual([]);
  });

  it("a note that is moved to the trash with its item is found again when it is restored", async () => {
    const { db } = database();
    const id = await plantItem(db, { title: "kept words" });
    expect(await engine.call("manage_items", { operation: "delete", itemIds: [id] })).toMatchObject({
      ids: [id],
    });
    expect(await foundIn("kept")).toEqual([]);
    await engine.call("manage_items", { operation: "restore", itemIds: [id] });
    expect(await foundIn("kept")).toEqual([id]);
  });

  it("refuses what it could not answer, and says what to do instead", async () => {
    await expect(find("words", { limit: 101 })).rejects.toThrow(/limit: must be at most 100/);
    await expect(find("   ")).rejects.toThrow(/query: must be filled in/);
    await expect(find("ab", { matchMode: "substring" })).rejects.toThrow(/at least 3 characters/);
    await expect(find("words", { sortBy: "title" })).rejects.toThrow(/sortBy: does not go with query/);
    await expect(find("words", { role: "work", scope: { role: "work" } })).rejects.toThrow(/said twice/);
    await expect(find(Array.from({ length: 17 }, (_, n) => `w${n}`).join(" "))).rejects.toThrow(/at most 16/);
    await expect(find(undefined, { matchMode: "text" })).rejects.toThrow(/matchMode: needs a query/);
  });
});
