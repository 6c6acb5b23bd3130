import { afterAll, beforeAll, expect, it } from "vitest";
import { NOBODY } from "../../../services/core/world.ts";
import { writeNotes } from "../../../services/engine/notes/write-notes.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { makeItem, noteSpec, read, schemaOfType } from "./notebook.ts";

const SOURCE = schemaOfType("task", { notes: [noteSpec("plan", "queue")] });

describeEachDatabase("notes inside somebody's transaction", (database) => {
  let engine: TestEngine;
  beforeAll(() => {
    engine = createTestEngine(database());
  });
  afterAll(() => engine.close());

  it("are written together, and refused one by one [B71]", async () => {
    const ids = await Promise.all([1, 2, 3].map(() => makeItem(engine, { type: "task" })));
    const targets = ids.map((id) => ({ id, rootId: id, type: "task", tags: [], traits: [] }));
    const [first, second, third] = targets;
    if (!first || !second || !third) throw new Error("three items were made");
    const entries = [
      ...targets.map((item) => ({ item, key: "plan", role: "queue" as const, body: "p" })),
      { item: first, key: "plan", role: "queue" as const, body: "again" },
      { item: second, key: "free", role: "review" as const, body: "f" },
    ];
    const outcomes = await database()
      .db.transaction()
      .execute(async (tx) => {
        const schemas = await SOURCE.load(tx, ids);
        const wrong = [{ item: third, key: "plan", role: "work" as const, body: "w" }];
        expect(await writeNotes(tx, schemas, wrong, NOBODY)).toMatchObject([
          {
            ok: false,
            error: { code: "validation_failed", details: { key: "plan", expectedRole: "queue" } },
          },
        ]);
        return await writeNotes(tx, schemas, entries, NOBODY);
      });
    expect(outcomes.map((outcome) => outcome.ok)).toEqual([true, true, true, false, true]);
    expect(outcomes[3]).toMatchObject({ error: { code: "validation_failed" } });
    expect(outcomes[4]).toMatchObject({
      note: { itemId: second.id, version: 1 },
      event: { type: "note.upserted", itemId: second.id },
    });
    expect(await read(engine, first.id)).toMatchObject({ body: "p", version: 1 });
  });
});
