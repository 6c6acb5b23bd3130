import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine, worker } from "../../support/engine.ts";
import { makeItem, manage, noteSpec, query, read, schemaOfType, write } from "./notebook.ts";

const SCHEMA = schemaOfType("task", {
  noteLimits: "reject",
  notes: [noteSpec("plan", "queue", { maxLength: 40 })],
});
const TEXT =
  "first line of the plan\nsecond line of the plan\nthird line of the plan\nfourth line of it all\n";

describeEachDatabase("versions of notes", (database) => {
  let engine: TestEngine;
  beforeAll(() => {
    engine = createTestEngine(database(), { schemas: SCHEMA });
  });
  afterAll(() => engine.close());

  const patch = (itemId: string, edits: object[], more: object = {}) =>
    manage(engine, { operation: "patch", notes: [{ itemId, key: "plan", edits, ...more }] });
  const undo = (itemId: string, version: number, more: object = {}) =>
    manage(engine, { operation: "undo", notes: [{ itemId, key: "plan", version, ...more }] });

  const noted = async (body = TEXT): Promise<string> => {
    const itemId = await makeItem(engine);
    await write(engine, { itemId, body, actor: worker("ann") });
    return itemId;
  };

  it("an edit by anchor changes its place and nothing else", async () => {
    const itemId = await noted();
    const answer = await patch(itemId, [{ old: "second line", new: "2nd line" }]);
    expect(answer).toMatchObject({ patched: 1, failed: 0, notes: [{ version: 2, role: "queue" }] });
    expect(answer.notes[0]?.rebased).toBeUndefined();
    expect(await read(engine, itemId)).toMatchObject({ body: TEXT.replace("second", "2nd") });
  });

  it("an anchor that occurs twice is refused with the lines of both [P-27]", async () => {
    const itemId = await noted("same\nother\nsame\n");
    const { failures } = await patch(itemId, [{ old: "same", new: "x" }]);
    expect(failures).toMatchObject([
      { code: "patch_anchor_ambiguous", details: { edit: 0, lines: [1, 3], version: 1 } },
    ]);
    const { notes } = await patch(itemId, [{ old: "same", new: "x", line: 3 }]);
    expect(notes).toMatchObject([{ version: 2 }]);
    expect(await read(engine, itemId)).toMatchObject({ body: "same\nother\nx\n" });
  });

  it("of two edits of which the second fails, the first is not applied either [P-27]", async () => {
    const itemId = await noted();
    const { failures } = await patch(itemId, [
      { old: "first", new: "1st" },
      { old: "nowhere", new: "x" },
    ]);
    expect(failures).toMatchObject([{ code: "patch_anchor_missing", details: { edit: 1, version: 1 } }]);
    expect(await read(engine, itemId)).toMatchObject({ body: TEXT, version: 1 });
  });

  it("an edit of an older version is applied to the newer one, which is told [P-28]", async () => {
    const itemId = await noted();
    await patch(itemId, [{ old: "third", new: "3rd" }]);
    const { notes } = await patch(itemId, [{ old: "first", new: "1st" }], { expectedVersion: 1 });
    expect(notes).toMatchObject([{ version: 3, rebased: true, intervening: [{ version: 2 }] }]);
    expect(await read(engine, itemId)).toMatchObject({
      body: TEXT.replace("third", "3rd").replace("first", "1st"),
    });
    expect(await patch(itemId, [{ old: "1st", new: "x" }], { expectedVersion: 9 })).toMatchObject({
      failures: [{ code: "version_conflict", details: { expected: 9, actual: 3 } }],
    });
  });

  it("undoing keeps later edits elsewhere, and can be undone in turn [P-29]", async () => {
    const itemId = await noted();
    await patch(itemId, [{ old: "first", new: "1st" }]);
    await patch(itemId, [{ old: "fourth", new: "4th" }]);
    const { notes } = await undo(itemId, 2);
    expect(notes).toMatchObject([{ version: 4 }]);
    expect(await read(engine, itemId)).toMatchObject({ body: TEXT.replace("fourth", "4th") });
    await undo(itemId, 4);
    expect(await read(engine, itemId)).toMatchObject({
      body: TEXT.replace("fourth", "4th").replace("first", "1st"),
    });
  });

  it("undoing is refused when the same text was edited since [P-29]", async () => {
    const itemId = await noted();
    await patch(itemId, [{ old: "first", new: "1st" }]);
    await patch(itemId, [{ old: "1st line", new: "No. 1" }]);
    expect(await undo(itemId, 2)).toMatchObject({ undone: 0, failures: [{ code: "undo_conflict" }] });
    expect(await read(engine, itemId)).toMatchObject({ version: 3 });
  });

  it("a text that was replaced whole can be taken back as well", async () => {
    const itemId = await noted();
    await write(engine, { itemId, body: TEXT.replace("second line", "another line") });
    await patch(itemId, [{ old: "fourth", new: "4th" }]);
    await undo(itemId, 2);
    expect(await read(engine, itemId)).toMatchObject({ body: TEXT.replace("fourth", "4th") });
    expect(await undo(itemId, 99)).toMatchObject({ failures: [{ code: "RESOURCE_NOT_FOUND" }] });
  });

  it("edits keep to the limits of the schema, and to requestId", async () => {
    const itemId = await makeItem(engine, { type: "task" });
    await write(engine, { itemId, body: "short" });
    const long = [{ old: "short", new: "x".repeat(41) }];
    expect(await patch(itemId, long)).toMatchObject({
      failures: [{ code: "NOTE_BODY_TOO_LONG", actualLength: 41 }],
    });
    const call = {
      operation: "patch",
      requestId: randomUUID(),
      notes: [{ itemId, key: "plan", edits: [{ old: "short", new: "shorter short" }] }],
    };
    await manage(engine, call);
    expect(await manage(engine, call)).toMatchObject({
      notes: [{ version: 2, replayed: true }],
    });
    expect(await patch(itemId, [{ old: "x", new: "y" }], { key: "none" })).toMatchObject({
      failures: [{ code: "RESOURCE_NOT_FOUND" }],
    });
  });

  it("the history names versions and authors, newest first, page by page, and no bodies", async () => {
    const itemId = await noted();
    for (const n of [2, 3, 4]) await write(engine, { itemId, body: `version ${n}`, actor: worker(`w${n}`) });
    const first = await query(engine, { operation: "history", itemId, key: "plan", limit: 3 });
    expect(first).toMatchObject({ hasMore: true, itemId, key: "plan" });
    expect(
      first.versions.map((one: { version: number; actor: { id: string } }) => [one.version, one.actor.id]),
    ).toEqual([
      [4, "w4"],
      [3, "w3"],
      [2, "w2"],
    ]);
    expect(JSON.stringify(first)).not.toContain("version 3");
    const rest = await query(engine, { operation: "history", itemId, key: "plan", before: 2 });
    expect(rest).toMatchObject({ hasMore: false, versions: [{ version: 1, bodyLength: TEXT.length }] });
    const old = await query(engine, { operation: "get", itemId, key: "plan", version: 2 });
    expect(old).toMatchObject({ version: 2, body: "version 2", actor: { id: "w2" } });
  });

  it("the difference between two versions is shown line by line", async () => {
    const itemId = await noted();
    await patch(itemId, [{ old: "second line", new: "2nd line" }]);
    await write(engine, { itemId, body: "all new" });
    const { id } = await read(engine, itemId);
    expect(await query(engine, { operation: "diff", noteId: id, from: 1, to: 2 })).toMatchObject({
      from: 1,
      to: 2,
      linesAdded: 1,
      linesRemoved: 1,
      truncated: false,
      diff: expect.stringContaining("-second line of the plan\n+2nd line of the plan") as string,
    });
    expect(await query(engine, { operation: "diff", noteId: id })).toMatchObject({
      from: 2,
      to: 3,
    });
  });

  it("a note that was deleted and written again goes on counting, and its history stays", async () => {
    const itemId = await noted();
    const { id } = await read(engine, itemId);
    await manage(engine, { operation: "delete", itemId, key: "plan" });
    const history = await query(engine, { operation: "history", itemId, key: "plan" });
    expect(history.versions).toMatchObject([{ version: 1 }]);
    const again = await write(engine, { itemId, body: "again" });
    expect(again).toMatchObject({ version: 2 });
    expect(again.id).not.toBe(id);
  });

  it("the last hundred versions stay, and no more", async () => {
    const itemId = await noted();
    const db = database().db;
    for (let n = 0; n < 105; n += 1) await patch(itemId, [{ old: "plan\nsecond", new: "plan\nsecond" }]);
    const kept = await db
      .selectFrom("note_versions")
      .select("version")
      .where("item_id", "=", itemId)
      .execute();
    expect(kept).toHaveLength(100);
    expect(Math.min(...kept.map((one) => one.version))).toBe(6);
  });

  it("a text survives the trash with all that it said before", async () => {
    const itemId = await noted();
    await patch(itemId, [{ old: "first", new: "1st" }], { actor: worker("ben") });
    const before = await read(engine, itemId);
    const { trash } = (await engine.call("manage_items", { operation: "delete", itemIds: [itemId] })) as {
      trash: { trashId: string }[];
    };
    await expect(read(engine, itemId)).rejects.toMatchObject({ code: "RESOURCE_NOT_FOUND" });
    await engine.call("manage_items", { operation: "restore", trashIds: [trash[0]?.trashId] });
    expect(await read(engine, itemId)).toEqual(before);
    await undo(itemId, 2);
    expect(await read(engine, itemId)).toMatchObject({ body: TEXT, version: 3 });
  });
});
