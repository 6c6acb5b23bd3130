import { afterAll, beforeAll, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { Project } from "./gate-board.ts";

const CONFIG = `
work_item_schemas:
  feature:
    notes:
      - { key: plan, role: queue, required: true, description: How it is done, guidance: Name the files. }
      - { key: result, role: work, required: true, description: What was done }
  reviewed:
    notes:
      - { key: verdict, role: review, required: false, description: What the review says }
  careful:
    lifecycle: auto
    notes:
      - { key: summary-of-all, role: work, required: true, description: What came of it }
  manual-one:
    lifecycle: manual
    notes: []
  permanent-one:
    lifecycle: permanent
    notes: []
traits:
  checked:
    notes:
      - { key: checked-by, role: review, required: true, description: Who looked }
`;

describeEachDatabase("the note gate", (database) => {
  let engine: TestEngine;
  let project: Project;
  beforeAll(async () => {
    engine = createTestEngine(database());
    project = await Project.open(engine, CONFIG);
  });
  afterAll(() => engine.close());

  it("an item in work whose schema has one optional review note goes to review, not to its end [B2]", async () => {
    const id = await project.item({ type: "reviewed" });
    await project.advance(id, "start");
    expect(await project.advance(id, "start")).toMatchObject({ applied: true, newRole: "review" });
  });

  it("a review note that only a trait brings makes a review phase [B3]", async () => {
    const id = await project.item({ type: "reviewed", traits: "checked" });
    await project.advance(id, "start");
    expect(await project.advance(id, "start")).toMatchObject({ newRole: "review" });
    expect(await project.advance(id, "start")).toMatchObject({
      applied: false,
      errorCode: "gate_blocked",
      missingNotes: [{ key: "checked-by" }],
    });
  });

  it("a start without its required note, or with one of spaces, is refused with what to write, and changes nothing [B4]", async () => {
    const id = await project.item({ type: "feature" });
    await project.note(id, "plan", "queue", "   ");
    expect(await project.advance(id, "start")).toMatchObject({
      applied: false,
      errorCode: "gate_blocked",
      previousRole: "queue",
      targetRole: "work",
      missingNotes: [{ key: "plan", description: "How it is done", guidance: "Name the files." }],
    });
    expect(await project.roleOf(id)).toBe("queue");
    const audit = await database()
      .db.selectFrom("transitions")
      .select("id")
      .where("item_id", "=", id)
      .execute();
    expect(audit).toEqual([]);
    await project.note(id, "plan", "queue");
    expect(await project.advance(id, "start")).toMatchObject({
      applied: true,
      newRole: "work",
      expectedNotes: [{ key: "result", role: "work", required: true, exists: false }],
      guidanceKey: "result",
      noteProgress: { filled: 0, remaining: 1, total: 1 },
    });
  });

  it("a completion asks for the notes of every phase, and lists those that are missing [B5]", async () => {
    const id = await project.item({ type: "feature" });
    await project.note(id, "plan", "queue");
    expect(await project.advance(id, "complete")).toMatchObject({
      errorCode: "gate_blocked",
      missingNotes: [{ key: "result" }],
    });
    await project.note(id, "result", "work");
    expect(await project.advance(id, "complete")).toMatchObject({ applied: true, newRole: "terminal" });
  });

  it("a note that was deleted after its phase was left is missed when the item closes [B15]", async () => {
    const id = await project.item({ type: "feature", traits: "checked" });
    await project.note(id, "plan", "queue");
    await project.advance(id, "start");
    await project.note(id, "result", "work");
    expect(await project.advance(id, "start")).toMatchObject({ newRole: "review" });
    await engine.call("manage_notes", { operation: "delete", itemId: id, key: "result" });
    await project.note(id, "checked-by", "review");
    expect(await project.advance(id, "start")).toMatchObject({
      errorCode: "gate_blocked",
      missingNotes: [{ key: "result" }],
    });
  });

  it("blocking, going back and cancelling ask for no notes [B6]", async () => {
    const id = await project.item({ type: "feature" });
    expect(await project.advance(id, "block")).toMatchObject({ applied: true });
    expect(await project.advance(id, "resume")).toMatchObject({ applied: true, newRole: "queue" });
    expect(await project.advance(id, "cancel")).toMatchObject({ applied: true, newRole: "terminal" });
    expect(await project.advance(id, "reopen")).toMatchObject({ applied: true, newRole: "queue" });
  });

  it("the last child that completes leaves a parent open whose notes are missing, and says so [B28]", async () => {
    const parent = await project.item({ type: "careful" });
    const [one, two] = [await project.item({ parentId: parent }), await project.item({ parentId: parent })];
    await project.advance(one, "complete");
    expect(await project.advance(two, "complete")).toMatchObject({
      applied: true,
      cascadeEvents: [
        { itemId: parent, applied: false, gateBlocked: true, missingNotes: [{ key: "summary-of-all" }] },
      ],
    });
    expect(await project.roleOf(parent)).not.toBe("terminal");
  });

  it("the last child that is cancelled closes the parent without its notes [B29]", async () => {
    const parent = await project.item({ type: "careful" });
    const child = await project.item({ parentId: parent });
    expect(await project.advance(child, "cancel")).toMatchObject({
      cascadeEvents: [{ itemId: parent, applied: true, targetRole: "terminal" }],
    });
  });

  it("manual and permanent parents stay open when their last child ends [B34]", async () => {
    for (const type of ["manual-one", "permanent-one"]) {
      const parent = await project.item({ type });
      const child = await project.item({ parentId: parent });
      await project.advance(child, "complete");
      expect(await project.roleOf(parent)).toBe("queue");
    }
  });

  it("a start pulls no parent along whose own queue notes are missing", async () => {
    const parent = await project.item({ type: "feature" });
    const child = await project.item({ parentId: parent });
    expect(await project.advance(child, "start")).toMatchObject({
      applied: true,
      newRole: "work",
      cascadeEvents: [{ itemId: parent, applied: false, gateBlocked: true, missingNotes: [{ key: "plan" }] }],
    });
  });

  it("the preview says what the start would be refused for", async () => {
    const id = await project.item({ type: "feature" });
    expect(await project.next(id)).toMatchObject({
      recommendation: "Blocked",
      reason: "gate_blocked",
      missingNotes: [{ key: "plan", role: "queue", required: true, exists: false }],
    });
    await project.note(id, "plan", "queue");
    expect(await project.next(id)).toMatchObject({ recommendation: "Ready", nextRole: "work" });
  });

  it("a claim that starts is refused by id and not offered by selector until the notes are there", async () => {
    const id = await project.item({ type: "feature", tags: "gated" });
    expect(await project.claim("ann", { itemId: id, start: true })).toMatchObject({
      outcome: "gate_blocked",
    });
    expect(await project.claim("ann", { selector: { tags: "gated" }, start: true })).toMatchObject({
      outcome: "none_eligible",
    });
    await project.note(id, "plan", "queue");
    expect(await project.claim("ann", { selector: { tags: "gated" }, start: true })).toMatchObject({
      outcome: "success",
      itemId: id,
      started: true,
    });
  });

  it("labels are those of the project, and a trigger that it gives none leaves none [B12]", async () => {
    const other = await Project.open(engine, "status_labels:\n  start: on-it\n");
    const id = await other.item();
    expect(await other.advance(id, "start")).toMatchObject({ statusLabel: "on-it" });
    expect(await other.advance(id, "complete")).toMatchObject({ applied: true });
  });

  it("a configuration that is pushed counts for the very next move", async () => {
    const other = await Project.open(engine, "work_item_schemas:\n  default:\n    notes: []\n");
    const id = await other.item();
    await other.push(
      "work_item_schemas:\n  default:\n    notes:\n      - { key: plan, role: queue, required: true }\n",
    );
    expect(await other.advance(id, "start")).toMatchObject({ errorCode: "gate_blocked" });
  });
});
