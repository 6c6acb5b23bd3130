import { expect, it } from "vitest";
import { worker } from "../../support/engine.ts";
import { agent, claim, granted, stateOf } from "../claims/calls.ts";
import { advanceCall, describeBoard, key, moved } from "./board.ts";

const ann = agent("ann");
const bob = agent("bob");
const HOUR = 3_600_000;

describeBoard("finishing one item and taking the next", (board) => {
  async function holding(): Promise<{ id: string; fence: number }> {
    const id = await board().plant();
    const { fence } = await granted(board().engine, ann, { itemId: id, start: true });
    return { id, fence };
  }

  it("is one call: the next item comes with its claim, under the same session", async () => {
    const { id, fence } = await holding();
    const next = await board().plant({ tags: ["first-wave"] });
    const output = await advanceCall(board(), ann, {
      requestId: key(),
      transitions: [{ itemId: id, trigger: "complete", fence }],
      claimNext: { selector: { tags: "first-wave" }, start: true },
    });
    expect(output).toMatchObject({ summary: { succeeded: 1 }, workerId: ann.workerId });
    expect(output.next).toMatchObject({ outcome: "success", itemId: next, started: true });
    expect(await stateOf(board().db, next)).toMatchObject({
      agent: "ann",
      session: ann.workerId,
      role: "work",
    });
  });

  it("answers the same item and fence when it is sent again, and takes nothing more", async () => {
    const { id, fence } = await holding();
    const ids = [
      await board().plant({ tags: ["second-wave"] }),
      await board().plant({ tags: ["second-wave"] }),
    ];
    const call = {
      requestId: key(),
      transitions: [{ itemId: id, trigger: "complete", fence }],
      claimNext: { selector: { tags: "second-wave" } },
    };
    const first = await advanceCall(board(), ann, call);
    const again = await advanceCall(board(), agent("ann", "reconnected"), call);
    expect(again.next).toMatchObject({ outcome: "success", replayed: true, fenceCurrent: true });
    for (const name of ["itemId", "fence"])
      expect(again.next).toHaveProperty(name, first.next?.[name as "itemId"]);
    expect(again.workerId).toBe(ann.workerId);
    const held = await board()
      .db.selectFrom("item_state")
      .select("item_id")
      .where("item_id", "in", ids)
      .where("agent", "is not", null)
      .execute();
    expect(held).toHaveLength(1);
  });

  it("is offered what the transition has just freed, and before anything less urgent", async () => {
    const { id, fence } = await holding();
    await board().plant({ tags: ["freed"], priority: "low" });
    const dependent = await board().plant({ tags: ["freed"], priority: "high" });
    await board().edge(id, dependent);
    const output = await advanceCall(board(), ann, {
      requestId: key(),
      transitions: [{ itemId: id, trigger: "complete", fence }],
      claimNext: { selector: { tags: "freed" }, start: true },
    });
    expect(output.results[0]).toMatchObject({ unblockedItems: [{ itemId: dependent }] });
    expect(output.next).toMatchObject({ outcome: "success", itemId: dependent, started: true });
    expect(await stateOf(board().db, dependent)).toMatchObject({ agent: "ann", role: "work", blockers: 0 });
  });

  it("gives many who finish together an item each, and nobody's is somebody else's", async () => {
    const workers = Array.from({ length: 24 }, (_, n) => agent(`many-${n}`));
    for (const _ of workers) await board().plant({ tags: ["many"] });
    for (const _ of workers) await board().plant({ tags: ["more"] });
    const firsts = await Promise.all(
      workers.map((who) => granted(board().engine, who, { selector: { tags: "many" }, start: true })),
    );
    const outputs = await Promise.all(
      workers.map((who, n) =>
        advanceCall(board(), who, {
          requestId: key(),
          itemId: firsts[n]?.itemId,
          fence: firsts[n]?.fence,
          trigger: "complete",
          claimNext: { selector: { tags: "more" }, start: true },
        }),
      ),
    );
    for (const [n, output] of outputs.entries()) {
      expect(output.next).toMatchObject({ outcome: "success", started: true });
      const itemId = (output.next as { itemId: string }).itemId;
      expect(await stateOf(board().db, itemId)).toMatchObject({ agent: `many-${n}`, role: "work" });
    }
    expect(new Set(outputs.map((output) => (output.next as { itemId: string }).itemId)).size).toBe(24);
  });

  it("takes nothing when a transition was refused, and the item that it would have taken stays free", async () => {
    const { id, fence } = await holding();
    const next = await board().plant({ tags: ["third-wave"] });
    const output = await advanceCall(board(), ann, {
      requestId: key(),
      transitions: [
        { itemId: id, trigger: "complete", fence },
        { itemId: id, trigger: "complete" },
      ],
      claimNext: { selector: { tags: "third-wave" } },
    });
    expect(output.summary).toMatchObject({ succeeded: 1, failed: 1 });
    expect(output).not.toHaveProperty("next");
    expect(await claim(board().engine, bob, { itemId: next })).toMatchObject({ outcome: "success" });
  });

  it("says that nothing is there when nothing is there, and the transition stands", async () => {
    const { id, fence } = await holding();
    const output = await advanceCall(board(), ann, {
      requestId: key(),
      transitions: [{ itemId: id, trigger: "complete", fence }],
      claimNext: { selector: { tags: "no-such-wave" } },
    });
    expect(output.next).toMatchObject({ outcome: "queue_empty" });
    expect(await board().roles(id)).toEqual(["terminal"]);
  });

  it("needs to know who claims, and a key so that a retry takes nothing twice", async () => {
    const { id } = await holding();
    const call = { itemId: id, trigger: "complete", claimNext: { selector: {} } };
    await expect(advanceCall(board(), ann, call)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    await expect(advanceCall(board(), null, { ...call, requestId: key() })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
  });

  it("a session is minted for a caller without one, and returned", async () => {
    const id = await board().plant({ role: "work" });
    const next = await board().plant({ tags: ["fourth-wave"] });
    const call = {
      actor: worker("carl"),
      requestId: key(),
      itemId: id,
      trigger: "complete",
      claimNext: { selector: { tags: "fourth-wave" } },
    };
    const output = await advanceCall(board(), null, call);
    expect(output.workerId).toMatch(/^w-/u);
    expect(await stateOf(board().db, next)).toMatchObject({ agent: "carl", session: output.workerId });
    await moved(board(), agent("carl", output.workerId), next, "complete");
  });

  it("with another claim under the same key is refused", async () => {
    const { id, fence } = await holding();
    await board().plant({ tags: ["fifth-wave"] });
    const call = { requestId: key(), transitions: [{ itemId: id, trigger: "complete", fence }] };
    await advanceCall(board(), ann, { ...call, claimNext: { selector: { tags: "fifth-wave" } } });
    const other = { ...call, claimNext: { selector: { tags: "sixth-wave" } } };
    await expect(advanceCall(board(), ann, other)).rejects.toMatchObject({ code: "idempotency_mismatch" });
  });

  it("a replay says when the claim has ended since", async () => {
    const { id, fence } = await holding();
    const next = await board().plant({ tags: ["seventh-wave"] });
    const call = {
      requestId: key(),
      transitions: [{ itemId: id, trigger: "complete", fence }],
      claimNext: { selector: { tags: "seventh-wave" }, ttlSeconds: 60 },
    };
    await advanceCall(board(), ann, call);
    await board().database.advance(HOUR);
    await granted(board().engine, bob, { itemId: next });
    expect((await advanceCall(board(), ann, call)).next).toMatchObject({
      replayed: true,
      fenceCurrent: false,
    });
  });
});
