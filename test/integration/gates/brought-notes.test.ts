import { afterAll, beforeAll, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine, worker } from "../../support/engine.ts";
import { Project } from "./gate-board.ts";

const CONFIG = `
work_item_schemas:
  feature:
    notes:
      - { key: plan, role: queue, required: true }
      - { key: result, role: work, required: true }
note_limits:
  mode: reject
`;

describeEachDatabase("notes that come with a transition", (database) => {
  let engine: TestEngine;
  let project: Project;
  beforeAll(async () => {
    engine = createTestEngine(database());
    project = await Project.open(engine, CONFIG);
  });
  afterAll(() => engine.close());

  const notesOf = async (itemId: string): Promise<{ key: string; agent: string | null }[]> =>
    await database().db.selectFrom("notes").select(["key", "agent"]).where("item_id", "=", itemId).execute();

  it("are written with it, and its gate sees them", async () => {
    const id = await project.item({ type: "feature" });
    const by = { actor: worker("ann"), workerId: "ann-1" };
    const plan = { key: "plan", role: "queue", body: "first this, then that" };
    expect(await project.advance(id, "start", { notes: [plan], ...by })).toMatchObject({
      applied: true,
      newRole: "work",
      notesWritten: ["plan"],
    });
    expect(await notesOf(id)).toEqual([{ key: "plan", agent: "ann" }]);
    const result = { key: "result", role: "work", body: "it was done" };
    expect(await project.advance(id, "complete", { notes: [result], ...by })).toMatchObject({
      applied: true,
      newRole: "terminal",
    });
    const events = await database()
      .db.selectFrom("events")
      .select("type")
      .where("item_id", "=", id)
      .execute();
    expect(events.filter(({ type }) => type === "note.upserted")).toHaveLength(2);
  });

  it("are not written when the transition is refused", async () => {
    const id = await project.item({ type: "feature" });
    const notes = [{ key: "plan", role: "queue", body: "done" }];
    expect(await project.advance(id, "complete", { notes })).toMatchObject({
      applied: false,
      errorCode: "gate_blocked",
      missingNotes: [{ key: "result" }],
    });
    expect(await notesOf(id)).toEqual([]);
  });

  it("that may not be written stand against the transition, and nothing is changed", async () => {
    const id = await project.item({ type: "feature" });
    const wrong = [{ key: "plan", role: "work", body: "under the wrong role" }];
    expect(await project.advance(id, "start", { notes: wrong })).toMatchObject({
      applied: false,
      errorCode: "validation_failed",
      details: { key: "plan", expectedRole: "queue" },
    });
    const twice = [
      { key: "plan", role: "queue", body: "one" },
      { key: "plan", role: "queue", body: "two" },
    ];
    expect(await project.advance(id, "start", { notes: twice })).toMatchObject({ applied: false });
    expect(await project.roleOf(id)).toBe("queue");
    expect(await notesOf(id)).toEqual([]);
  });

  it("are written once when the call is sent again", async () => {
    const id = await project.item({ type: "feature" });
    const call = {
      requestId: crypto.randomUUID(),
      actor: worker("ann"),
      workerId: "ann-1",
      notes: [{ key: "plan", role: "queue", body: "first" }],
    };
    await project.advance(id, "start", call);
    expect(await project.advance(id, "start", call)).toMatchObject({ applied: true, replayed: true });
    const written = await database()
      .db.selectFrom("notes")
      .select("version")
      .where("item_id", "=", id)
      .execute();
    expect(written).toEqual([{ version: 1 }]);
  });

  it("finish an item and take the next in one call", async () => {
    const [id, next] = [await project.item({ type: "feature" }), await project.item({ tags: "after-that" })];
    await project.note(id, "plan", "queue");
    const { fence } = (await project.claim("ann", { itemId: id, start: true })) as { fence: number };
    const output = (await engine.call("advance_item", {
      actor: worker("ann"),
      workerId: "ann-1",
      requestId: crypto.randomUUID(),
      itemId: id,
      trigger: "complete",
      fence,
      notes: [{ key: "result", role: "work", body: "it works" }],
      claimNext: { selector: { tags: "after-that" }, start: true },
    })) as { results: { applied: boolean }[]; next: object };
    expect(output.results[0]).toMatchObject({ applied: true });
    expect(output.next).toMatchObject({ outcome: "success", itemId: next, started: true });
  });

  it("of somebody who lost the item are refused with the transition", async () => {
    const id = await project.item({ type: "feature" });
    await project.claim("ann", { itemId: id, ttlSeconds: 60 });
    await database().advance(200_000);
    await project.claim("bob", { itemId: id });
    const late = {
      actor: worker("ann"),
      workerId: "ann-1",
      notes: [{ key: "plan", role: "queue", body: "late" }],
    };
    expect(await project.advance(id, "start", late)).toMatchObject({
      applied: false,
      errorCode: "claim_lost",
    });
    expect(await notesOf(id)).toEqual([]);
  });
});
