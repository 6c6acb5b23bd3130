import { expect, it } from "vitest";
import { agent, claim, eventsOf, granted, refused, stateOf, tenuresOf } from "../claims/calls.ts";
import { advanceCall, describeBoard, moved, refusedMove } from "./board.ts";

const ann = agent("ann");
const bob = agent("bob");
const HOUR = 3_600_000;

describeBoard("attempts that fail", (board) => {
  async function working(item: object = {}): Promise<string> {
    const id = await board().plant(item);
    await granted(board().engine, ann, { itemId: id, start: true });
    return id;
  }

  it("a failure of the item counts, hands it back and keeps it back for a while", async () => {
    const id = await working({ tags: ["flaky"] });
    const result = await moved(board(), ann, id, "fail", { reason: "assertion in step 3", class: "item" });
    expect(result).toMatchObject({ previousRole: "work", newRole: "queue", claimReleased: true });
    expect(Date.parse(result.availableAt ?? "")).not.toBeNaN();
    expect(await stateOf(board().db, id)).toMatchObject({ role: "queue", attempts: 1, agent: null });
    expect(await refused(board().engine, bob, { selector: { tags: "flaky" } })).toMatchObject({
      outcome: "none_eligible",
      excluded: { waiting: 1 },
      nextAt: result.availableAt,
    });
    await board().database.advance(HOUR);
    expect(await granted(board().engine, agent("carl"), { selector: { tags: "flaky" } })).toMatchObject({
      itemId: id,
      attempt: 2,
    });
  });

  it("the evidence is kept with the attempt and in the audit", async () => {
    const id = await working();
    await moved(board(), ann, id, "fail", { reason: "exit code 3" });
    const attempt = await board()
      .db.selectFrom("attempts")
      .selectAll()
      .where("item_id", "=", id)
      .executeTakeFirstOrThrow();
    expect(attempt).toMatchObject({ end_reason: "failed", detail: "exit code 3" });
    const row = await board()
      .db.selectFrom("transitions")
      .selectAll()
      .where("item_id", "=", id)
      .where("trigger", "=", "fail")
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({ summary: "exit code 3", agent: "ann" });
  });

  it("a failure of the environment keeps the item back and does not count, however often", async () => {
    const id = await board().plant({ type: "fragile", tags: ["away"] });
    for (const who of [ann, bob, ann]) {
      await granted(board().engine, who, { itemId: id, start: true });
      await moved(board(), who, id, "fail", { reason: "registry is away", class: "environment" });
    }
    expect(await stateOf(board().db, id)).toMatchObject({ role: "queue", attempts: 0, dead: false });
    expect(await claim(board().engine, bob, { selector: { tags: "away" } })).toMatchObject({
      outcome: "none_eligible",
    });
  });

  it("past the limit the item is dead: blocked, labelled, out of every queue, and no agent brings it back [B53]", async () => {
    const id = await board().plant({ type: "fragile", tags: ["cursed"] });
    const next = await board().plant();
    await board().edge(id, next, { unblockAt: "work" });
    for (const who of [ann, bob]) {
      await granted(board().engine, who, { itemId: id, start: true });
      await moved(board(), who, id, "fail", { reason: "it broke" });
    }
    expect(await stateOf(board().db, id)).toMatchObject({
      role: "blocked",
      status_label: "dead",
      dead: true,
      attempts: 2,
      available_at: null,
    });
    expect(await eventsOf(board().db, id)).toContain("item.dead");
    for (const trigger of ["resume", "start", "complete"]) {
      expect(await refusedMove(board(), ann, id, trigger)).toMatchObject({
        errorCode: "item_dead",
        errorKind: "permanent",
      });
    }
    expect(await refused(board().engine, ann, { itemId: id })).toMatchObject({ outcome: "item_dead" });
    expect(
      await claim(board().engine, ann, { selector: { tags: "cursed", role: "queue,work,blocked" } }),
    ).not.toMatchObject({ outcome: "success" });
    expect((await refusedMove(board(), null, next, "start")).blockers).toMatchObject([
      { fromItemId: id, currentRole: "blocked" },
    ]);
  });

  it("the last answer says that the item is dead", async () => {
    const id = await board().plant({ type: "fragile", attempts: 1, role: "work" });
    expect(await moved(board(), ann, id, "fail", { reason: "again" })).toMatchObject({
      newRole: "blocked",
      statusLabel: "dead",
      dead: true,
    });
  });

  it("a dead item can be cancelled, and its parent then closes", async () => {
    const root = await board().plant();
    const id = await board().plant({
      parentId: root,
      role: "blocked",
      dead: true,
      attempts: 5,
      statusLabel: "dead",
    });
    expect((await moved(board(), ann, id, "cancel")).cascadeEvents).toMatchObject([
      { itemId: root, applied: true },
    ]);
    expect(await stateOf(board().db, id)).toMatchObject({ dead: false, outcome: "cancelled" });
  });

  it("a failed review stays in review and counts by itself", async () => {
    const id = await board().plant({ type: "stubborn", attempts: 1 });
    await granted(board().engine, ann, { itemId: id, start: true });
    expect(await moved(board(), ann, id, "start")).toMatchObject({ newRole: "review" });
    await moved(board(), ann, id, "fail", { reason: "could not run it" });
    expect(await stateOf(board().db, id)).toMatchObject({ role: "review", attempts: 1, agent: null });
    expect(await tenuresOf(board().db, id)).toEqual(["ann-1: failed"]);
    await moved(board(), bob, id, "fail", { reason: "nor could I" });
    expect(await stateOf(board().db, id)).toMatchObject({
      role: "blocked",
      dead: true,
      previous_role: "review",
    });
  });

  it("a hold and a resume do not wash off failures", async () => {
    const id = await board().plant({ type: "reviewed", role: "review", attempts: 3 });
    await moved(board(), ann, id, "hold");
    await moved(board(), ann, id, "resume");
    expect(await stateOf(board().db, id)).toMatchObject({ role: "review", attempts: 3 });
  });

  it("a failure needs a reason, and only failures have a class", async () => {
    const id = await working();
    await expect(advanceCall(board(), ann, { itemId: id, trigger: "fail" })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
    const odd = { itemId: id, trigger: "start", class: "item" };
    await expect(advanceCall(board(), ann, odd)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });

  it("an expiry where the schema holds leaves the item in work, stalled, with the attempt counted", async () => {
    const id = await board().plant({ type: "holds" });
    await granted(board().engine, ann, { itemId: id, start: true, ttlSeconds: 60 });
    await board().database.advance(120_000);
    await board().engine.engine.sweep(new AbortController().signal);
    expect(await stateOf(board().db, id)).toMatchObject({ role: "work", agent: null, attempts: 1 });
  });
});
