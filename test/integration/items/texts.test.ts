import { afterAll, beforeAll, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine, worker } from "../../support/engine.ts";

const TEXT = "first line of it\nsecond line of it\nthird line of it\nfourth and last\n";

interface Updated {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly failures?: readonly Readonly<Record<string, unknown>>[];
}
interface Versions {
  readonly versions: readonly { readonly version: number }[];
}

describeEachDatabase("texts of items", (database) => {
  let engine: TestEngine;
  beforeAll(() => {
    engine = createTestEngine(database());
  });
  afterAll(() => engine.close());

  const made = async (more: object = {}): Promise<string> => {
    const input = { operation: "create", items: [{ title: "item", description: TEXT, ...more }] };
    const { items } = (await engine.call("manage_items", input)) as Updated;
    return String(items[0]?.["id"]);
  };
  const update = async (itemId: string, change: object, more: object = {}): Promise<Updated> =>
    (await engine.call("manage_items", {
      operation: "update",
      items: [{ itemId, ...change }],
      ...more,
    })) as Updated;
  const get = async (itemId: string): Promise<Readonly<Record<string, unknown>>> =>
    (await engine.call("query_items", { operation: "get", itemId })) as Readonly<Record<string, unknown>>;

  it("a description is edited by anchor, a summary beside it, all or nothing [P-27]", async () => {
    const itemId = await made({ summary: "short" });
    await update(itemId, {
      edits: [
        { old: "second line", new: "2nd line" },
        { field: "summary", old: "short", new: "shorter" },
      ],
    });
    expect(await get(itemId)).toMatchObject({
      description: TEXT.replace("second", "2nd"),
      summary: "shorter",
      version: 2,
    });
    const twice = await update(itemId, {
      edits: [
        { old: "first", new: "1st" },
        { old: "line of it", new: "x" },
      ],
    });
    expect(twice.failures).toMatchObject([
      { errorCode: "patch_anchor_ambiguous", details: { edit: 1, lines: [1, 2, 3] } },
    ]);
    expect(await get(itemId)).toMatchObject({ version: 2 });
  });

  it("an edit of an older version is applied to the newer one, which is told [P-28]", async () => {
    const itemId = await made();
    await update(itemId, { edits: [{ old: "third", new: "3rd" }] }, { actor: worker("ben") });
    const { items } = await update(itemId, { edits: [{ old: "first", new: "1st" }], expectedVersion: 1 });
    expect(items).toMatchObject([
      {
        version: 3,
        rebased: true,
        intervening: [{ version: 2, fields: ["description"], actor: { id: "ben" } }],
      },
    ]);
    expect(await get(itemId)).toMatchObject({
      description: TEXT.replace("third", "3rd").replace("first", "1st"),
    });
  });

  it("a whole text of an older version is refused with both versions, and changes nothing [P-21]", async () => {
    const itemId = await made();
    await update(itemId, { title: "other" });
    const { failures } = await update(itemId, { description: "mine", expectedVersion: 1 });
    expect(failures).toMatchObject([{ errorCode: "version_conflict", details: { expected: 1, actual: 2 } }]);
    expect(await get(itemId)).toMatchObject({ description: TEXT, version: 2 });
    // An edit that comes with other fields is no edit alone.
    const mixed = await update(itemId, {
      edits: [{ old: "first", new: "1st" }],
      priority: "high",
      expectedVersion: 1,
    });
    expect(mixed.failures).toMatchObject([{ errorCode: "version_conflict" }]);
    await expect((async () => update(itemId, { title: "x", expectedVersion: 0 }))()).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
  });

  it("a version is taken back where later edits left it alone, and refused where they did not [P-29]", async () => {
    const itemId = await made();
    await update(itemId, { edits: [{ old: "first", new: "1st" }] });
    await update(itemId, { edits: [{ old: "fourth", new: "4th" }] });
    expect((await update(itemId, { undo: 2 })).items).toMatchObject([{ version: 4 }]);
    expect(await get(itemId)).toMatchObject({ description: TEXT.replace("fourth", "4th") });
    await update(itemId, { edits: [{ old: "4th and", new: "No. 4 and" }] });
    expect((await update(itemId, { undo: 3 })).failures).toMatchObject([{ errorCode: "undo_conflict" }]);
    expect((await update(itemId, { undo: 77 })).failures).toMatchObject([
      { errorCode: "RESOURCE_NOT_FOUND" },
    ]);
  });

  it("texts that were written whole or cleared come back too", async () => {
    const itemId = await made({ summary: "old summary" });
    await update(itemId, { title: "new title", summary: "new summary", description: null });
    await update(itemId, { undo: 2 });
    expect(await get(itemId)).toMatchObject({ title: "item", summary: "old summary", description: TEXT });
  });

  it("the history names what each version changed, and by whom; the difference shows it", async () => {
    const itemId = await made();
    await update(itemId, { title: "second title" }, { actor: worker("ann") });
    await update(itemId, { priority: "high" });
    await update(itemId, { edits: [{ old: "first", new: "1st" }] }, { actor: worker("ben") });
    const history: unknown = await engine.call("query_items", { operation: "history", itemId });
    expect(history).toMatchObject({
      itemId,
      version: 4,
      hasMore: false,
      versions: [
        { version: 4, fields: ["description"], actor: { id: "ben" } },
        { version: 2, fields: ["title"], actor: { id: "ann" } },
      ],
    });
    expect(JSON.stringify(history)).not.toContain("first line");
    const older = (await engine.call("query_items", { operation: "history", itemId, before: 4 })) as Versions;
    expect(older.versions.map((one) => one.version)).toEqual([2]);
    expect(await engine.call("query_items", { operation: "diff", itemId })).toMatchObject({
      from: 3,
      to: 4,
      fields: [{ field: "description", linesAdded: 1, linesRemoved: 1 }],
    });
    expect(await engine.call("query_items", { operation: "diff", itemId, from: 1 })).toMatchObject({
      from: 1,
      to: 4,
      fields: [{ field: "title", diff: "@@ -1,1 +1,1 @@\n-item\n+second title" }, { field: "description" }],
    });
  });

  it("properties are merged key by key, null removes one, and two merges at once are both there [P-22]", async () => {
    const itemId = await made({ properties: { keep: 1, drop: 2 } });
    await Promise.all([
      update(itemId, { mergeProperties: { left: "a", drop: null } }),
      update(itemId, { mergeProperties: { right: "b" } }),
    ]);
    expect(await get(itemId)).toMatchObject({ properties: { keep: 1, left: "a", right: "b" } });
    expect((await get(itemId))["properties"]).not.toHaveProperty("drop");
    await expect(
      (async () => update(itemId, { properties: {}, mergeProperties: { a: 1 } }))(),
    ).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });

  it("what makes no sense together, or on a new item, is refused [S26]", async () => {
    const itemId = await made();
    const edits = [{ old: "first", new: "1st" }];
    for (const change of [
      { edits, description: "whole" },
      { edits, undo: 1 },
      { undo: 1, title: "x" },
    ]) {
      await expect((async () => update(itemId, change))()).rejects.toMatchObject({
        code: "VALIDATION_ERROR",
      });
    }
    await expect((async () => made({ undo: 1 }))()).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });

  it("history goes through the trash", async () => {
    const itemId = await made();
    await update(itemId, { edits: [{ old: "first", new: "1st" }] });
    const { trash } = (await engine.call("manage_items", { operation: "delete", itemIds: [itemId] })) as {
      trash: { trashId: string }[];
    };
    await engine.call("manage_items", { operation: "restore", trashIds: [trash[0]?.trashId] });
    await update(itemId, { undo: 2 });
    expect(await get(itemId)).toMatchObject({ description: TEXT });
  });
});
