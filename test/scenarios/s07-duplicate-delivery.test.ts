/** The same dispatch arrives twice: at the same moment, and after the first run has begun. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeEachDatabase } from "../support/database.ts";
import { createTestEngine, type TestEngine } from "../support/engine.ts";
import { plantGraph, plantItem } from "../support/fixtures.ts";
import { agent, create, granted, tenuresOf } from "../integration/claims/calls.ts";

describeEachDatabase("a dispatch that is delivered twice", (database) => {
  let engine: TestEngine;
  beforeAll(() => {
    engine = createTestEngine(database());
  });
  afterAll(() => engine.close());
  const WORKER = agent("runner");

  it("starts one run per worker, and the second call returns the first result [S7]", async () => {
    const root = await plantItem(database().db, { role: "work" });
    const ids = await plantGraph(
      database().db,
      Array.from({ length: 4 }, () => ({ parentId: root })),
      [],
    );
    const requestId = randomUUID();
    const dispatch = () =>
      granted(engine, WORKER, { selector: { ancestorId: root, role: "queue" }, start: true }, { requestId });
    const [first, second] = await Promise.all([dispatch(), dispatch()]);
    const later = await dispatch();
    expect(ids).toContain(first.itemId);
    for (const one of [second, later])
      expect(one).toMatchObject({ itemId: first.itemId, fence: first.fence, started: true });
    expect([first, second, later].filter((one) => one.replayed === true)).toHaveLength(2);
    expect(await tenuresOf(database().db, first.itemId)).toEqual(["runner-1: open"]);
    const starts = await database()
      .db.selectFrom("transitions")
      .selectAll()
      .where("item_id", "=", first.itemId)
      .execute();
    expect(starts.map((row) => row.trigger)).toEqual(["start"]);
  });

  it("creates one item, and the second call names it [S7] [P-23]", async () => {
    const call = { actor: { id: "hook", kind: "external" }, requestId: randomUUID() };
    const deliver = () => create(engine, ["from an event"], call);
    const twice = await Promise.all([deliver(), deliver()]);
    const [id] = await deliver();
    expect(twice).toEqual([[id], [id]]);
    const made = await database()
      .db.selectFrom("items")
      .select("id")
      .where("title", "=", "from an event")
      .execute();
    expect(made).toHaveLength(1);
  });
});
