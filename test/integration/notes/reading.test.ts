import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { makeItem, manage, query, read, write } from "./notebook.ts";

/** What a host cuts a tool's answer at, in tokens of four bytes. */
const ANSWER_SIZE_MAX_BYTES = 100_000;

describeEachDatabase("reading and deleting notes", (database) => {
  let engine: TestEngine;
  beforeAll(() => {
    engine = createTestEngine(database());
  });
  afterAll(() => engine.close());

  const list = (itemId: string, more: object = {}) => query(engine, { operation: "list", itemId, ...more });
  const remove = (more: object) => manage(engine, { operation: "delete", ...more });
  const keysOf = ({ notes }: { readonly notes: readonly { readonly key: string }[] }) =>
    notes.map((note) => note.key);

  it("a list goes by phase, and has lengths where no bodies were asked for", async () => {
    const itemId = await makeItem(engine);
    await write(engine, { itemId, key: "review", role: "review", body: "r" });
    await write(engine, { itemId, key: "result", role: "work", body: "four" });
    await write(engine, { itemId, key: "plan", role: "queue", body: "p" });
    const all = await list(itemId);
    expect(keysOf(all)).toEqual(["plan", "result", "review"]);
    expect(all).toMatchObject({ total: 3, returned: 3, hasMore: false, notes: [{}, { bodyLength: 4 }, {}] });
    expect(all.notes[1]?.body).toBeUndefined();
    expect(keysOf(await list(itemId, { role: "work" }))).toEqual(["result"]);
    const chosen = await list(itemId, { keys: ["plan", "review", "none"], includeBody: true });
    expect(chosen.notes).toMatchObject([{ body: "p" }, { body: "r" }]);
    expect(chosen.notes[0]?.bodyLength).toBeUndefined();
    const page = await list(itemId, { limit: 2, offset: 1 });
    expect(keysOf(page)).toEqual(["result", "review"]);
    expect(await list(itemId, { limit: 2 })).toMatchObject({ hasMore: true, total: 3 });
  });

  it("no answer is too large for a model, and going on by offset misses nothing", async () => {
    const itemId = await makeItem(engine);
    const bodies = ["\n", "\u0001", "word ", "x", "\u00e9"].map((text) =>
      text.repeat(60_000 / text.length / 2),
    );
    await manage(engine, {
      operation: "upsert",
      notes: bodies.map((body, n) => ({ itemId, key: `k${n}`, role: "work", body })),
    });
    const seen: string[] = [];
    for (let offset = 0; ;) {
      const page = await list(itemId, { includeBody: true, offset });
      expect(JSON.stringify(page).length).toBeLessThan(ANSWER_SIZE_MAX_BYTES);
      seen.push(...keysOf(page));
      offset += page.returned;
      if (!page.hasMore) break;
    }
    expect(seen).toEqual(bodies.map((_, n) => `k${n}`));
    let text = "";
    for (let offset = 0; ;) {
      const part = await read(engine, itemId, "k1", offset);
      expect(JSON.stringify(part).length).toBeLessThan(ANSWER_SIZE_MAX_BYTES);
      expect(part.bodyLength).toBe(bodies[1]?.length);
      text += part.body;
      if (part.nextOffset === undefined) break;
      offset = part.nextOffset;
    }
    expect(text).toBe(bodies[1]);
  });

  it("a note is found by its id and by its place, and what is not there is told", async () => {
    const itemId = await makeItem(engine);
    const { id } = await write(engine, { itemId, body: "text" });
    const byId = await query(engine, { operation: "get", noteId: id });
    expect(byId).toEqual(await read(engine, itemId));
    for (const place of [{ noteId: randomUUID() }, { itemId, key: "none" }]) {
      await expect(query(engine, { operation: "get", ...place })).rejects.toMatchObject({
        code: "RESOURCE_NOT_FOUND",
      });
    }
  });

  it("words are found in bodies, below an item or on it alone", async () => {
    const root = await makeItem(engine);
    const child = await makeItem(engine, { parentId: root });
    await write(engine, {
      itemId: child,
      key: "log",
      role: "work",
      body: "the zebra-crossing failed (again",
    });
    await write(engine, { itemId: root, body: "nothing of it" });
    const search = (more: object) => query(engine, { operation: "search", query: "zebra-crossing", ...more });
    const found = await search({ scope: { ancestorId: root } });
    expect(found).toMatchObject({
      totalHits: 1,
      hits: [{ kind: "note", itemId: child, key: "log", noteKey: "log", field: "body" }],
    });
    expect(await search({ scope: { itemId: root } })).toMatchObject({ totalHits: 0 });
    await expect((async () => search({ scope: { role: "work" } }))()).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
  });

  it("deleting by ids and by item at once is refused, and deletes nothing [B75]", async () => {
    const itemId = await makeItem(engine);
    const { id } = await write(engine, { itemId, body: "stays" });
    await expect((async () => remove({ ids: [id], itemId }))()).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
    await expect((async () => remove({}))()).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    expect(await read(engine, itemId)).toMatchObject({ body: "stays" });
  });

  it("deleting answers for each reference what became of it", async () => {
    const itemId = await makeItem(engine);
    const { id } = await write(engine, { itemId, body: "x" });
    const absent = randomUUID();
    expect(await remove({ ids: [id, absent] })).toEqual({
      deleted: 1,
      notFound: 1,
      failed: 0,
      results: [
        { id, itemId, key: "plan", outcome: "deleted", deleted: 1 },
        { id: absent, outcome: "not_found", deleted: 0 },
      ],
    });
    expect(await remove({ itemId, key: "plan" })).toMatchObject({ deleted: 0, notFound: 1, failed: 0 });
    for (const key of ["a", "b"]) await write(engine, { itemId, key, body: "x" });
    expect(await remove({ itemId, key: "a" })).toMatchObject({ deleted: 1, notFound: 0 });
    expect(await remove({ itemId })).toMatchObject({ deleted: 1, results: [{ itemId, outcome: "deleted" }] });
    expect(await list(itemId)).toMatchObject({ notes: [], total: 0 });
  });

  it("deleting is repeated by requestId, not done again", async () => {
    const itemId = await makeItem(engine);
    await write(engine, { itemId, body: "x" });
    const requestId = randomUUID();
    expect(await remove({ itemId, key: "plan", requestId })).toMatchObject({ deleted: 1 });
    await write(engine, { itemId, body: "new" });
    expect(await remove({ itemId, key: "plan", requestId })).toMatchObject({ deleted: 1, replayed: true });
    expect(await read(engine, itemId)).toMatchObject({ body: "new" });
  });

  it("what was written and deleted is told to whoever follows the events", async () => {
    const itemId = await makeItem(engine);
    const { id } = await write(engine, { itemId, body: "x" });
    await remove({ ids: [id] });
    const events = await database()
      .db.selectFrom("events")
      .select(["type", "data"])
      .where("item_id", "=", itemId)
      .where("type", "like", "note.%")
      .orderBy("seq")
      .execute();
    expect(events).toEqual([
      { type: "note.upserted", data: { noteId: id, key: "plan", role: "queue", version: 1 } },
      { type: "note.deleted", data: { noteId: id, key: "plan", version: 1 } },
    ]);
  });
});
