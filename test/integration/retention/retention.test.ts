/** What retention lets go of when its window is over, and what it never does. Time is moved. */
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { DEFAULT_RETENTION } from "../../../services/core/retention.ts";
import { asking } from "../../support/asking.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { makeItem } from "../notes/notebook.ts";
import { clearAll } from "./clear-all.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describeEachDatabase("retention", (database) => {
  let engine: TestEngine;
  beforeAll(() => {
    engine = createTestEngine(database());
  });
  afterAll(() => engine.close());
  beforeEach(async () => {
    await sql`truncate items, item_state, attempts, transitions, audit_log, events, idempotency, trash, agents,
      resource_lease_history, retention_passes cascade`.execute(database().db);
    // Made anew: the engine made the rows of the passes when it first looked.
    await engine.close();
    engine = createTestEngine(database());
  });

  const count = async (table: string, where = "true"): Promise<number> => {
    const { rows } = await sql
      .raw<{ n: number }>(`select count(*)::int as n from ${table} where ${where}`)
      .execute(database().db);
    return rows[0]?.n ?? -1;
  };
  const clear = (): Promise<number> => clearAll(engine.engine);
  /** Claims and releases so often, then completes. */
  const worked = async (tenures: number): Promise<string> => {
    const itemId = await makeItem(engine);
    const { claim, advance } = asking(engine);
    for (let done = 0; done < tenures; done += 1) {
      await claim("ada", { itemId, start: true });
      await advance({ itemId, trigger: done === tenures - 1 ? "complete" : "requeue" }, "ada");
    }
    return itemId;
  };

  it("lets go of nothing that is younger than its window", async () => {
    await worked(3);
    const before = [await count("events"), await count("attempts"), await count("idempotency")];
    await database().advance(DAY_MS);
    expect(await clear()).toBe(0);
    expect([await count("events"), await count("attempts"), await count("idempotency")]).toEqual(before);
  });

  it("lets go of events after seven days and of answers to repeated calls after 72 hours", async () => {
    await worked(2);
    await database().advance(72 * HOUR_MS + 1_000);
    const late = await worked(1);
    await clear();
    expect(await count("idempotency", "created_at < muster_now() - interval '72 hours'")).toBe(0);
    expect(await count("idempotency")).toBeGreaterThan(0);
    expect(await count("events", "at < muster_now() - interval '72 hours'")).toBeGreaterThan(0);
    await database().advance(4 * DAY_MS);
    await clear();
    expect(await count("events", "at < muster_now() - interval '7 days'")).toBe(0);
    expect(await count("events", `item_id = '${late}'`)).toBeGreaterThan(0);
  });

  it("keeps the latest attempt and the latest move of a closed item, and every attempt of an open one", async () => {
    const closed = await worked(3);
    const open = await makeItem(engine);
    const { claim, advance } = asking(engine);
    for (let tenure = 0; tenure < 3; tenure += 1) {
      await claim("bob", { itemId: open, start: true });
      await advance({ itemId: open, trigger: "requeue" }, "bob");
    }
    await database().advance(366 * DAY_MS);
    await clear();
    expect(await count("attempts", `item_id = '${closed}'`)).toBe(1);
    expect(await count("attempts", `item_id = '${closed}' and end_reason = 'completed'`)).toBe(1);
    expect(await count("attempts", `item_id = '${open}'`)).toBe(3);
    expect(await count("transitions", `item_id = '${closed}'`)).toBe(1);
    expect(await count("transitions", `item_id = '${closed}' and to_role = 'terminal'`)).toBe(1);
    expect(await count("transitions", `item_id = '${open}'`)).toBe(1);
  });

  it("keeps an attempt that is under way, however old it is", async () => {
    const itemId = await makeItem(engine);
    await asking(engine).claim("ada", { itemId });
    await database().advance(400 * DAY_MS);
    await clear();
    expect(await count("attempts", `item_id = '${itemId}'`)).toBe(1);
  });

  it("a text that was replaced within the window can be put back, however long it had stood", async () => {
    const itemId = await makeItem(engine);
    const write = (body: string) =>
      engine.call("manage_notes", {
        operation: "upsert",
        notes: [{ itemId, key: "plan", role: "queue", body }],
      });
    await write("one");
    await write("two");
    await database().advance(200 * DAY_MS);
    await write("three");
    await clear();
    // The first was replaced 200 days ago, the second just now.
    expect(await count("note_versions", "body = 'one'")).toBe(0);
    const undone: unknown = await engine.call("manage_notes", {
      operation: "undo",
      notes: [{ itemId, key: "plan", version: 3 }],
    });
    expect(undone).toMatchObject({ undone: 1, failed: 0 });
  });

  it("the last text of a note that was deleted stays, so that its versions go on counting", async () => {
    const itemId = await makeItem(engine);
    const write = async (body: string) =>
      (await engine.call("manage_notes", {
        operation: "upsert",
        notes: [{ itemId, key: "plan", role: "queue", body }],
      })) as { notes: { version: number }[] };
    await write("one");
    await write("two");
    await engine.call("manage_notes", { operation: "delete", itemId, key: "plan" });
    await database().advance(400 * DAY_MS);
    await clear();
    expect(await count("note_versions")).toBe(1);
    expect((await write("again")).notes[0]?.version).toBe(3);
  });

  it("lets go of what an item said before, when the change is older than its window", async () => {
    const itemId = await makeItem(engine);
    const rename = (title: string) =>
      engine.call("manage_items", { operation: "update", items: [{ itemId, title }] });
    await rename("second");
    await database().advance(181 * DAY_MS);
    await rename("third");
    await clear();
    expect(await count("item_versions")).toBe(1);
    expect(await count("item_versions", "before ->> 'title' = 'second'")).toBe(1);
  });

  it("what was deleted can be restored for 30 days, and not after them", async () => {
    const itemId = await makeItem(engine);
    await engine.call("manage_items", { operation: "delete", itemIds: [itemId] });
    await database().advance(30 * DAY_MS - HOUR_MS);
    await clear();
    expect(await count("trash")).toBe(1);
    await database().advance(HOUR_MS + 1_000);
    await clear();
    expect(await count("trash")).toBe(0);
  });

  it("the configured windows count", async () => {
    const brief = createTestEngine(database(), {
      settings: { retention: { ...DEFAULT_RETENTION, eventsDays: 1 } },
    });
    await worked(1);
    await database().advance(DAY_MS + 1_000);
    await clearAll(brief.engine);
    expect(await count("events")).toBe(0);
    expect(await count("idempotency")).toBeGreaterThan(0);
    await brief.close();
  });

  it("sessions that nobody has heard of go, unless they hold something", async () => {
    const itemId = await makeItem(engine);
    await asking(engine).claim("ada", { itemId });
    await asking(engine).claim("bob", { selector: {} });
    await engine.close();
    engine = createTestEngine(database());
    await database().advance(31 * DAY_MS);
    expect(await count("agents")).toBe(2);
    await clear();
    expect(await count("agents", "agent = 'ada'")).toBe(1);
    expect(await count("agents", "agent = 'bob'")).toBe(0);
  });

  it("a round takes a bounded part of what is old, and stops where it is told to", async () => {
    await sql`insert into events (type, at) select 'old', muster_now() - interval '8 days' from generate_series(1, 1200)`.execute(
      database().db,
    );
    const { signal } = new AbortController();
    expect(await engine.engine.retain(signal)).toEqual({ deleted: 500, more: true });
    expect(await engine.engine.retain(AbortSignal.abort())).toEqual({ deleted: 0, more: false });
    expect(await engine.engine.retain(signal)).toEqual({ deleted: 500, more: true });
    expect(await engine.engine.retain(signal)).toEqual({ deleted: 200, more: false });
    // A pass that is over rests, and looks again when the hour has passed.
    await sql`insert into events (type, at) values ('old', muster_now() - interval '8 days')`.execute(
      database().db,
    );
    expect(await engine.engine.retain(signal)).toEqual({ deleted: 0, more: false });
    await database().advance(HOUR_MS + 1_000);
    expect(await engine.engine.retain(signal)).toEqual({ deleted: 1, more: false });
  });

  it("an event that is young ends the pass, and is not passed over for ever", async () => {
    await sql`insert into events (type, at) select case n when 2 then 'young' else 'old' end,
      muster_now() - case n when 2 then interval '6 days' else interval '8 days' end from generate_series(1, 3) n`.execute(
      database().db,
    );
    await clear();
    expect(await count("events")).toBe(2);
    await database().advance(2 * DAY_MS);
    await clear();
    expect(await count("events")).toBe(0);
  });

  it("rounds of several schedulers at once share the work, and claims go on meanwhile", async () => {
    await sql`insert into events (type, at) select 'old', muster_now() - interval '8 days' from generate_series(1, 3000)`.execute(
      database().db,
    );
    const others = [createTestEngine(database()), createTestEngine(database())];
    const itemId = await makeItem(engine);
    const [claimed, deleted] = await Promise.all([
      asking(engine).claim("ada", { itemId, start: true }),
      Promise.all([engine, ...others].map((one) => clearAll(one.engine))),
    ]);
    expect(claimed).toMatchObject({ outcome: "success" });
    const first = deleted.reduce((sum, one) => sum + one, 0);
    // Whoever found another at it went home; what is left is the next round's.
    await database().advance(HOUR_MS + 1_000);
    expect(first + (await clear())).toBe(3_000);
    await Promise.all(others.map((one) => one.close()));
  });
});
