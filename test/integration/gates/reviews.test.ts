/* oxlint-disable typescript/no-unsafe-assignment -- a test that reads a wrong field fails by itself */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine, worker } from "../../support/engine.ts";
import { Project } from "./gate-board.ts";

const OLGA = { id: "olga", kind: "user" } as const;

const CONFIG = (independence: string): string => `
work_item_schemas:
  feature:
    notes:
      - { key: result, role: work, required: true, seat: builder }
      - { key: verdict, role: review, required: true, seat: reviewer, independent_of: [builder] }
${independence}
retry:
  max_review_rounds: 2
`;

describeEachDatabase("reviews", (database) => {
  let engine: TestEngine;
  let strict: Project;
  beforeAll(async () => {
    engine = createTestEngine(database());
    strict = await Project.open(engine, CONFIG("independence:\n  mode: reject"));
  });
  afterAll(() => engine.close());

  async function inReview(project: Project): Promise<string> {
    const id = await project.item({ type: "feature" });
    await project.advance(id, "start");
    await project.note(id, "result", "work", "built", "ann");
    expect(await project.advance(id, "start")).toMatchObject({ newRole: "review" });
    return id;
  }

  it("who built it does not approve it: the same author for both is refused, and nobody is named [S40]", async () => {
    const id = await inReview(strict);
    await strict.note(id, "verdict", "review", "fine by me", "ann");
    const refused = await strict.advance(id, "complete");
    expect(refused).toMatchObject({
      applied: false,
      errorCode: "gate_blocked",
      violations: [
        { key: "verdict", seat: "reviewer", constraint: "same_actor", conflictingSeat: "builder" },
      ],
    });
    expect(JSON.stringify(refused)).not.toContain("ann");
    await strict.note(id, "verdict", "review", "fine by me", "bob");
    expect(await strict.advance(id, "complete")).toMatchObject({ applied: true, newRole: "terminal" });
  });

  it("a review is not offered to who did the work, on any surface, and is to everybody else [S40]", async () => {
    const id = await inReview(strict);
    const mine = { role: "review", ancestorId: strict.rootId };
    const asAnn = { agent: "ann", workerId: "ann-1" };
    expect(await strict.claim("ann", { selector: mine })).toMatchObject({
      outcome: "none_eligible",
      excluded: { independence: 1 },
    });
    expect(await engine.call("get_next_item", { ...mine, ...asAnn })).toMatchObject({
      recommendations: [],
      excluded: { independence: 1 },
    });
    expect(await engine.call("explain_item", { itemId: id, agent: "ann", workerId: "ann-1" })).toMatchObject({
      reasons: expect.arrayContaining([expect.objectContaining({ code: "independence" })]),
    });
    // By id it is given, with a warning.
    expect(await strict.claim("ann", { itemId: id })).toMatchObject({
      outcome: "success",
      warnings: expect.arrayContaining([expect.stringContaining("independent")]),
    });
    await strict.advance(id, "block", { actor: worker("ann"), workerId: "ann-1" });
    await strict.advance(id, "resume", { actor: worker("ann"), workerId: "ann-1" });
    await engine.call("claim_item", {
      actor: worker("ann"),
      workerId: "ann-1",
      requestId: randomUUID(),
      releases: [{ itemId: id }],
    });
    expect(await strict.claim("bob", { selector: mine })).toMatchObject({ outcome: "success", itemId: id });
    await strict.note(id, "verdict", "review", "fine", "bob");
    const by = { actor: worker("bob"), workerId: "bob-1" };
    expect(await strict.advance(id, "complete", by)).toMatchObject({ applied: true });
  });

  it("a review that nobody may do is skipped by an operator with a reason, and stored as skipped [S40]", async () => {
    const id = await inReview(strict);
    const override = { override: true, reason: "everybody here has worked on it" };
    const skip = (more: object) => strict.advance(id, "complete", more);
    expect(await skip({ ...override, actor: worker("ann") })).toMatchObject({
      applied: false,
      errorCode: "insufficient_capability",
    });
    await expect(skip({ override: true, actor: OLGA })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    await expect(skip(override)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    expect(await skip({ ...override, actor: OLGA })).toMatchObject({
      applied: true,
      newRole: "terminal",
      statusLabel: "review-skipped",
      setAside: ["review"],
    });
    const { transitions } = (await engine.call("list_transitions", { itemId: id })) as {
      transitions: unknown[];
    };
    expect(transitions[0]).toMatchObject({ trigger: "skip", toRole: "terminal", summary: override.reason });
    expect(await engine.call("query_notes", { operation: "list", itemId: id })).toMatchObject({
      notes: [{ key: "result" }],
    });
    const audit = await database()
      .db.selectFrom("audit_log")
      .select(["action", "agent", "data"])
      .where("item_id", "=", id)
      .where("action", "=", "item.overridden")
      .execute();
    expect(audit).toEqual([
      {
        action: "item.overridden",
        agent: "olga",
        data: {
          trigger: "complete",
          from: "review",
          to: "terminal",
          setAside: ["review"],
          reason: override.reason,
        },
      },
    ]);
  });

  it("what the work itself has to leave behind is not skipped with the review [S40]", async () => {
    const id = await strict.item({ type: "feature" });
    await strict.advance(id, "start");
    const skip = { override: true, reason: "in a hurry", actor: OLGA };
    expect(await strict.advance(id, "complete", skip)).toMatchObject({
      applied: false,
      errorCode: "gate_blocked",
      missingNotes: [{ key: "result" }],
    });
  });

  it("an author without a name is not independent of anybody", async () => {
    const id = await inReview(strict);
    await strict.note(id, "verdict", "review", "fine", null);
    expect(await strict.advance(id, "complete")).toMatchObject({
      errorCode: "gate_blocked",
      violations: [{ constraint: "missing_actor" }],
    });
  });

  it("with a warning only, it is told and done", async () => {
    const project = await Project.open(engine, CONFIG("independence:\n  mode: warn"));
    const id = await inReview(project);
    await project.note(id, "verdict", "review", "fine", "ann");
    expect(await project.advance(id, "complete")).toMatchObject({
      applied: true,
      violations: [{ key: "verdict", constraint: "same_actor" }],
    });
  });

  it("an approval stands when the worker comes back to it and completes [S39]", async () => {
    const id = await inReview(strict);
    await strict.note(id, "verdict", "review", "approved", "bob");
    const claimed = await strict.claim("ann", { itemId: id });
    expect(claimed).toMatchObject({ outcome: "success" });
    const by = { actor: worker("ann"), workerId: "ann-1" };
    expect(await strict.advance(id, "complete", by)).toMatchObject({ applied: true, newRole: "terminal" });
  });

  it("a review that goes round in circles ends with a person", async () => {
    const id = await inReview(strict);
    for (let round = 0; round < 2; round += 1) {
      expect(await strict.advance(id, "rework")).toMatchObject({ applied: true, newRole: "work" });
      expect(await strict.advance(id, "start")).toMatchObject({ applied: true, newRole: "review" });
    }
    expect(await strict.advance(id, "rework")).toMatchObject({
      applied: true,
      newRole: "blocked",
      statusLabel: "review-limit",
      dead: true,
    });
    expect(await strict.advance(id, "resume")).toMatchObject({ applied: false, errorCode: "item_dead" });
  });
});
