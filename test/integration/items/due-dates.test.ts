/** When an item is due: set, cleared, filtered by, and said where it matters. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { asking } from "../../support/asking.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { makeItem } from "../notes/notebook.ts";

const HOUR_MS = 3_600_000;

describeEachDatabase("due dates", (database) => {
  let engine: TestEngine;
  beforeAll(() => {
    engine = createTestEngine(database());
  });
  afterAll(() => engine.close());

  const inHours = (hours: number): string => new Date(Date.now() + hours * HOUR_MS).toISOString();
  const update = (itemId: string, change: object) =>
    engine.call("manage_items", { operation: "update", items: [{ itemId, ...change }] });

  it("a due date is set, moved, shown and cleared", async () => {
    const due = inHours(1);
    const itemId = await makeItem(engine, { dueAt: due });
    expect(await asking(engine).get(itemId)).toMatchObject({ dueAt: due });
    const later = inHours(2);
    await update(itemId, { dueAt: later });
    expect(await asking(engine).get(itemId)).toMatchObject({ dueAt: later });
    await update(itemId, { dueAt: null });
    expect(await asking(engine).get(itemId)).not.toHaveProperty("dueAt");
  });

  it("a date without a time is refused, with what would be right", async () => {
    const create = engine.call.bind(engine, "manage_items", {
      operation: "create",
      items: [{ title: "late", dueAt: "2030-01-01" }],
    });
    expect(create).toThrow(/not a full instant; write date, time and zone/);
  });

  it("lists find what is due by an instant, and say when", async () => {
    const parentId = await makeItem(engine);
    const due = inHours(1);
    const soon = await makeItem(engine, { parentId, dueAt: due });
    await makeItem(engine, { parentId, dueAt: inHours(10) });
    await makeItem(engine, { parentId });
    const found = await asking(engine).search({ parentId, dueBefore: inHours(5) });
    expect(found).toMatchObject({ total: 1, items: [{ id: soon, dueAt: due }] });
  });

  it("a recommendation says that its item is overdue", async () => {
    const parentId = await makeItem(engine);
    const itemId = await makeItem(engine, { parentId, dueAt: inHours(1) });
    const reason = async () =>
      (await asking(engine).next({ parentId })).recommendations.find((one) => one.itemId === itemId)?.reason;
    expect(await reason()).toBe("medium priority");
    await database().advance(2 * HOUR_MS);
    expect(await reason()).toBe("overdue, medium priority");
  });

  it("comes back with its item from the trash", async () => {
    const due = inHours(30);
    const itemId = await makeItem(engine, { dueAt: due });
    await engine.call("manage_items", { operation: "delete", itemIds: [itemId] });
    await engine.call("manage_items", { operation: "restore", itemIds: [itemId] });
    expect(await asking(engine).get(itemId)).toMatchObject({ dueAt: due });
  });
});
