/** The documented examples of `advance_item` and `get_next_status`. */
/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access -- an example says itself which fields it shows */
import { randomUUID } from "node:crypto";
import { beforeEach, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine } from "../../support/engine.ts";
import { Desk, TEXT } from "./desk.ts";

describeEachDatabase("the examples of transitions", (database) => {
  let desk: Desk;
  beforeEach(async () => {
    const engine = createTestEngine(database());
    desk = await Desk.open(engine, database());
    return () => engine.close();
  });
  const advance = (input: object) => desk.call("advance_item", input);
  const status = (itemId: string) => desk.call("get_next_status", { itemId });

  it.each(["transitions", "singular"])("advance_item: a start that pulls its parent (%s)", async (form) => {
    const parent = await desk.item("Auth Feature");
    const itemId = await desk.item("JWT Handler", { parentId: parent, tags: "task-implementation" });
    await desk.note(itemId, "task-scope", "queue");
    const next = await desk.item("Next task");
    await desk.blocks(itemId, next, { unblockAt: "work" });
    const one = { itemId, trigger: "start" };
    expect(await advance(form === "singular" ? one : { transitions: [one] })).toMatchObject({
      results: [
        {
          itemId,
          newRole: "work",
          statusLabel: "in-progress",
          applied: true,
          cascadeEvents: [
            {
              itemId: parent,
              title: "Auth Feature",
              previousRole: "queue",
              targetRole: "work",
              applied: true,
            },
            { itemId: desk.rootId },
          ],
          unblockedItems: [{ itemId: next, title: "Next task" }],
          expectedNotes: [{ key: "done-criteria", role: "work", required: true, exists: false }],
          guidanceKey: "done-criteria",
          noteProgress: { filled: 0, remaining: 1, total: 1 },
        },
      ],
      summary: { total: 1, succeeded: 1, failed: 0 },
    });
  });

  it("advance_item: several at once, as one actor whose retry changes nothing", async () => {
    const actor = { id: "agent-1", kind: "subagent" };
    const [first, second] = [await desk.item("One"), await desk.item("Two")];
    const call = {
      transitions: [
        { itemId: first, trigger: "complete", actor },
        { itemId: second, trigger: "complete", actor },
      ],
      requestId: randomUUID(),
    };
    const answer = await advance(call);
    expect(answer).toMatchObject({
      results: [
        { itemId: first, newRole: "terminal", statusLabel: "done", applied: true, actor },
        { itemId: second, newRole: "terminal", statusLabel: "done", applied: true, actor },
      ],
      summary: { total: 2, succeeded: 2, failed: 0 },
    });
    expect((await advance(call)).results).toMatchObject([
      { itemId: first, applied: true },
      { applied: true },
    ]);
  });

  it("advance_item: one that waits for another", async () => {
    const [blocker, itemId] = [await desk.item("First"), await desk.item("Second")];
    await desk.blocks(blocker, itemId);
    expect(await advance({ itemId, trigger: "start" })).toMatchObject({
      results: [
        {
          itemId,
          trigger: "start",
          applied: false,
          error: TEXT,
          blockers: [{ fromItemId: blocker, currentRole: "queue", requiredRole: "terminal" }],
        },
      ],
      summary: { total: 1, succeeded: 0, failed: 1 },
    });
  });

  it("advance_item: one whose notes are missing", async () => {
    const itemId = await desk.item("JWT Handler", { type: "feature-implementation" });
    expect(await advance({ itemId, trigger: "start" })).toMatchObject({
      results: [
        {
          itemId,
          trigger: "start",
          applied: false,
          error: expect.stringContaining("feature-summary") as string,
          missingNotes: [
            { key: "feature-summary", description: "What", guidance: "Say why", skill: "spec-quality" },
          ],
        },
      ],
      summary: { total: 1, succeeded: 0, failed: 1 },
    });
  });

  it("advance_item: one that another agent holds", async () => {
    const itemId = await desk.item("JWT Handler");
    await desk.claim("worker-agent-7", { itemId });
    const actor = { id: "agent-1", kind: "subagent" };
    const answer = await advance({ itemId, trigger: "start", actor });
    expect(answer.results).toMatchObject([
      { applied: false, errorKind: TEXT, errorCode: "not_claim_holder", contendedItemId: itemId },
    ]);
    expect(JSON.stringify(answer)).not.toContain("worker-agent-7");
  });

  it("get_next_status: ready", async () => {
    expect(await status(await desk.item("JWT Handler"))).toMatchObject({
      recommendation: "Ready",
      currentRole: "queue",
      nextRole: "work",
      trigger: "start",
      progressionPosition: expect.stringMatching(/^1\/\d$/) as string,
    });
  });

  it("get_next_status: blocked by a dependency", async () => {
    const [blocker, itemId] = [await desk.item("First"), await desk.item("Second")];
    await desk.blocks(blocker, itemId);
    expect(await status(itemId)).toMatchObject({
      recommendation: "Blocked",
      currentRole: "queue",
      blockers: [{ fromItemId: blocker, currentRole: "queue", requiredRole: "terminal" }],
    });
  });

  it("get_next_status: held, and closed", async () => {
    const itemId = await desk.item("JWT Handler");
    await desk.advance(itemId, "block");
    expect(await status(itemId)).toMatchObject({
      recommendation: "Blocked",
      currentRole: "blocked",
      suggestion: expect.stringContaining("resume") as string,
    });
    await desk.advance(itemId, "cancel");
    expect(await status(itemId)).toMatchObject({
      recommendation: "Terminal",
      currentRole: "terminal",
      reason: TEXT,
    });
  });
});
