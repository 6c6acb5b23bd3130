import { TRIGGERS } from "../../../services/core/roles.ts";
import { expect, it } from "vitest";
import { agent, claim, expectAnonymous, granted, stateOf, tenuresOf } from "../claims/calls.ts";
import { advanceCall, describeBoard, moved, refusedMove } from "./board.ts";

const ann = agent("ann-of-the-first-floor");
const bob = agent("bob-of-the-second-floor");
const MINUTE = 60_000;

describeBoard("transitions of held items", (board) => {
  async function held(ttlSeconds = 60, item: object = {}): Promise<{ id: string; fence: number }> {
    const id = await board().plant(item);
    const { fence } = await granted(board().engine, ann, { itemId: id, start: true, ttlSeconds });
    return { id, fence };
  }

  it("only the holder moves it: nobody else, and nobody without a name; the answer names no one [B48]", async () => {
    const { id } = await held();
    for (const who of [bob, null, agent(ann.id, "another-session")]) {
      const refusal = await refusedMove(board(), who, id, "complete");
      expect(refusal).toMatchObject({
        errorCode: "not_claim_holder",
        errorKind: "permanent",
        contendedItemId: id,
      });
      expect(refusal.retryAfterMs).toBeGreaterThan(0);
      expectAnonymous(refusal, ann);
    }
    expect(await moved(board(), ann, id, "complete")).toMatchObject({
      newRole: "terminal",
      claimReleased: true,
    });
    expect(await tenuresOf(board().db, id)).toEqual([`${ann.workerId}: completed`]);
  });

  it("every trigger asks for the holder [B48]", async () => {
    const { id } = await held();
    for (const trigger of TRIGGERS) {
      const more = trigger === "fail" ? { reason: "?" } : {};
      expect((await refusedMove(board(), bob, id, trigger, more)).errorCode).toBe("not_claim_holder");
    }
  });

  it("the holder's name with its fence is enough from any session, the fence alone is not", async () => {
    const { id, fence } = await held();
    const stranger = await refusedMove(board(), bob, id, "hold", { fence });
    expect(stranger.errorCode).toBe("claim_lost");
    expectAnonymous(stranger, ann);
    await moved(board(), agent(ann.id, "another-session"), id, "hold", { fence });
  });

  it("a fence that does not match is refused, even from the holder's own session", async () => {
    const { id, fence } = await held();
    const refusal = await refusedMove(board(), ann, id, "complete", { fence: fence + 1 });
    expect(refusal).toMatchObject({ errorCode: "claim_lost", errorKind: "permanent" });
    expect(await board().roles(id)).toEqual(["work"]);
  });

  it("a transition keeps the claim, and answers the fence that goes on counting", async () => {
    const { id, fence } = await held(60, { type: "reviewed" });
    expect(await moved(board(), ann, id, "start", { fence })).toMatchObject({ newRole: "review", fence });
    expect(await stateOf(board().db, id)).toMatchObject({ role: "review", agent: ann.id, attempts: 0 });
    expect(await moved(board(), ann, id, "start", { fence })).toMatchObject({
      newRole: "terminal",
      claimReleased: true,
    });
  });

  it("the end takes the claim away, and what opens again is unclaimed under a higher fence [B50]", async () => {
    for (const trigger of ["complete", "cancel"]) {
      const { id, fence } = await held();
      await moved(board(), ann, id, trigger, { fence });
      expect(await stateOf(board().db, id)).toMatchObject({
        agent: null,
        session: null,
        expires_at: null,
        fence: fence + 1,
      });
      await moved(board(), bob, id, "reopen");
      expect(await stateOf(board().db, id)).toMatchObject({ role: "queue", agent: null });
      expect((await granted(board().engine, bob, { itemId: id })).fence).toBe(fence + 2);
    }
  });

  it("rework sends a review back to work and ends the reviewer's claim", async () => {
    const id = await board().plant({ type: "reviewed", role: "review" });
    await granted(board().engine, bob, { itemId: id });
    expect(await moved(board(), bob, id, "rework", { summary: "no tests" })).toMatchObject({
      newRole: "work",
      claimReleased: true,
    });
    expect(await stateOf(board().db, id)).toMatchObject({ role: "work", agent: null });
    expect(await tenuresOf(board().db, id)).toEqual([`${bob.workerId}: released`]);
    await granted(board().engine, ann, { selector: { role: "work", type: "reviewed" } });
  });

  it("heartbeats and edits beside a transition never meet a version conflict [B51]", async () => {
    const { id, fence } = await held();
    const beat = { actor: { id: ann.id, kind: "subagent" }, workerId: ann.workerId };
    const update = { ...beat, operation: "update", items: [{ itemId: id, summary: "half way", fence }] };
    const beside: readonly [Promise<unknown>, Promise<unknown>, Promise<unknown>] = [
      claim(board().engine, ann, { itemId: id, ttlSeconds: 120 }),
      board().engine.call("manage_items", update),
      moved(board(), ann, id, "hold", { fence }),
    ];
    const [refreshed, updated, advanced] = await Promise.all(beside);
    expect(refreshed).toMatchObject({ outcome: "success", fence });
    expect(updated).toMatchObject({ updated: 1, failed: 0 });
    expect(advanced).toMatchObject({ newRole: "blocked", fence });
  });

  it("a holder whose time is over may still finish while nobody took the item [B48]", async () => {
    const { id, fence } = await held();
    await board().database.advance(10 * MINUTE);
    expect(await moved(board(), ann, id, "complete", { fence })).toMatchObject({
      newRole: "terminal",
      previousRole: "work",
    });
  });

  it("somebody else's transition frees a lapsed item first, and both are recorded [B48, B49]", async () => {
    const { id, fence } = await held();
    await board().database.advance(1.5 * MINUTE);
    const result = await moved(board(), bob, id, "start");
    expect(result).toMatchObject({ previousRole: "queue", newRole: "work" });
    expect(await board().audit(id)).toEqual([
      `start queue>work ${ann.id}`,
      `expire work>queue ${bob.id}`,
      `start queue>work ${bob.id}`,
    ]);
    expect(await stateOf(board().db, id)).toMatchObject({
      role: "work",
      agent: null,
      attempts: 1,
      fence: fence + 1,
    });
    expect(await tenuresOf(board().db, id)).toEqual([`${ann.workerId}: expired`]);

    const late = await refusedMove(board(), ann, id, "complete", { fence });
    expect(late.errorCode).toBe("claim_lost");
    expect((await refusedMove(board(), ann, id, "complete")).errorCode).toBe("claim_lost");
    expectAnonymous(late, bob);
  });

  it("at the expiry itself a claim has lapsed for writers once the clock says so [B49]", async () => {
    const { id } = await held();
    await board().database.advance(MINUTE);
    expect((await moved(board(), bob, id, "start")).previousRole).toBe("queue");
  });

  it("what is refused on a lapsed item leaves the claim where it was", async () => {
    const { id, fence } = await held();
    await board().database.advance(2 * MINUTE);
    expect((await refusedMove(board(), bob, id, "reopen")).errorCode).toBe("invalid_transition");
    expect(await stateOf(board().db, id)).toMatchObject({ role: "work", agent: ann.id, fence });
    await moved(board(), ann, id, "complete", { fence });
  });

  it("a lapsed claim in review that was the last allowed one is not finished by somebody else", async () => {
    const id = await board().plant({ type: "stubborn", role: "review", attempts: 1 });
    await granted(board().engine, ann, { itemId: id, ttlSeconds: 60 });
    await board().database.advance(2 * MINUTE);
    expect((await refusedMove(board(), bob, id, "start")).errorCode).toBe("item_dead");
    expect(await moved(board(), bob, id, "cancel")).toMatchObject({
      newRole: "terminal",
      previousRole: "blocked",
    });
  });

  it("a session that lost an item writes nothing below it until it claims again [B52]", async () => {
    const { id } = await held(60, { type: "permanent" });
    const child = await board().plant({ parentId: id });
    await board().database.advance(2 * MINUTE);
    await granted(board().engine, bob, { itemId: id });
    expect((await refusedMove(board(), ann, child, "start")).errorCode).toBe("claim_lost");
    await granted(board().engine, ann, { itemId: child });
    await moved(board(), ann, child, "start");
  });

  it("the time until the claim ends is told, the holder is not, in the text for a model as well", async () => {
    const { id } = await held();
    const output = await advanceCall(board(), bob, { itemId: id, trigger: "complete" });
    expectAnonymous(output, ann);
    expect(output.summary).toEqual({ total: 1, succeeded: 0, failed: 1 });
  });
});
