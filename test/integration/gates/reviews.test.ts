/* oxlint-disable typescript/no-unsafe-assignment -- a test that reads a wrong field fails by itself */
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine, worker } from "../../support/engine.ts";
import { Project } from "./gate-board.ts";

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
