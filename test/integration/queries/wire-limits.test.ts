/** Pages that say that there is more, and numbers that are too large for JSON readers. */
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type Asking, asking } from "../../support/asking.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { plantGraph } from "../../support/fixtures.ts";
import { createItem } from "../config/project.ts";

describeEachDatabase("an answer", (database) => {
  let engine: TestEngine;
  let ask: Asking;
  beforeAll(() => {
    engine = createTestEngine(database());
    ask = asking(engine);
  });
  afterAll(() => engine.close());
  beforeEach(async () => {
    await sql`truncate items cascade`.execute(database().db);
  });

  it("lists fifty of fifty-one items unless it is told otherwise, and says that there is one more [P-32]", async () => {
    const rows = Array.from({ length: 51 }, (_, n) => ({ title: `item ${n}` }));
    await plantGraph(database().db, rows, []);
    const first = await ask.search();
    expect(first.items).toHaveLength(50);
    expect(first).toMatchObject({ total: 51, returned: 50, hasMore: true });
    expect(await ask.search({ offset: 50 })).toMatchObject({ returned: 1, hasMore: false });
  });

  it("gives a large number back as it was sent, as text, and refuses one that did not arrive whole [F-33]", async () => {
    const exact = "9007199254740993";
    const properties = { sequence: exact, nested: [{ largest: Number.MAX_SAFE_INTEGER }] };
    const itemId = await createItem(engine, { properties });
    expect((await ask.get(itemId)).properties).toEqual(properties);
    const inexact = JSON.parse(`{"nested":[{"sequence":${exact}}]}`) as object;
    await expect(createItem(engine, { properties: inexact })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringContaining("go as text") as unknown,
    });
    expect((await ask.search()).total).toBe(1);
  });
});
