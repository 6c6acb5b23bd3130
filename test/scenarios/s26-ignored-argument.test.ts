/** Every field of an update, in the element and at the top level: it has its effect, or the call is refused. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeItem, manage, read, write } from "../integration/notes/notebook.ts";
import { describeEachDatabase } from "../support/database.ts";
import { createTestEngine, type TestEngine } from "../support/engine.ts";

const ITEM_FIELDS: Readonly<Record<string, unknown>> = {
  title: "t",
  summary: "s",
  description: "d",
  priority: "high",
  complexity: 7,
  tags: "x",
  type: "bug",
  traits: "fast",
  needs: "gpu",
  assignee: "ann",
  metadata: "m",
  properties: { a: 1 },
  mergeProperties: { b: 2 },
  statusLabel: "soon",
  requiresVerification: true,
  edits: [{ old: "a", new: "b" }],
  undo: 1,
  expectedVersion: 1,
  fence: 1,
};

const NOTE_FIELDS: Readonly<Record<string, unknown>> = {
  role: "work",
  body: "text",
  bodyFromFile: "x.txt",
  edits: [{ old: "a", new: "b" }],
  version: 1,
  expectedVersion: 1,
  fence: 1,
};

/** What each operation on notes takes in an element, and what it needs. */
const NOTE_OPERATIONS = [
  { operation: "upsert", takes: ["role", "body", "bodyFromFile"], needed: { role: "work" } },
  { operation: "patch", takes: ["edits"], needed: { edits: [{ old: "a", new: "b" }] } },
  { operation: "undo", takes: ["version"], needed: { version: 1 } },
] as const;
const EVERYWHERE: readonly string[] = ["expectedVersion", "fence"];

describeEachDatabase("an argument is never accepted and ignored", (database) => {
  let engine: TestEngine;
  beforeAll(() => {
    engine = createTestEngine(database());
  });
  afterAll(() => engine.close());

  const refusal = async (call: () => Promise<unknown>): Promise<unknown> => {
    try {
      await call();
    } catch (error) {
      return error;
    }
    return null;
  };

  it("fields of items that are sent at the top level apply to all, or name where they belong [S26]", async () => {
    const itemId = await makeItem(engine);
    for (const [field, value] of Object.entries(ITEM_FIELDS)) {
      const call = { operation: "update", items: [{ itemId, title: "x" }], [field]: value };
      const refused = await refusal(async () => engine.call("manage_items", call));
      if (field === "traits") expect(refused).toBeNull();
      else
        expect(refused).toMatchObject({
          code: "VALIDATION_ERROR",
          message: expect.stringContaining(field) as string,
        });
    }
    expect(await engine.call("query_items", { operation: "get", itemId })).toMatchObject({ traits: "fast" });
  });

  it("fields of notes that an operation has no use for are refused, in the element and at the top level [S26]", async () => {
    const itemId = await makeItem(engine);
    await write(engine, { itemId, body: "before" });
    for (const { operation, takes, needed } of NOTE_OPERATIONS) {
      for (const [field, value] of Object.entries(NOTE_FIELDS)) {
        const place = { itemId, key: "plan" };
        const above = { operation, notes: [{ ...place, ...needed }], [field]: value };
        expect(await refusal(() => manage(engine, above))).toMatchObject({ code: "VALIDATION_ERROR" });
        if (EVERYWHERE.includes(field) || (takes as readonly string[]).includes(field)) continue;
        const inside = { operation, notes: [{ ...place, ...needed, [field]: value }] };
        expect(await refusal(() => manage(engine, inside))).toMatchObject({ code: "VALIDATION_ERROR" });
      }
    }
    expect(await read(engine, itemId)).toMatchObject({ body: "before", version: 1 });
  });
});
