/** What waits for an item that ended badly goes on waiting, says so, and somebody is told. */
import { expect, it } from "vitest";
import { type Board, describeBoard, moved, refusedMove } from "../integration/advance/board.ts";

const AGENT = { id: "ann", workerId: "ann-1" };

/** Fails until no attempt is left: a verdict of "fail" that nobody mends. */
async function die({ engine, database }: Board, itemId: string): Promise<void> {
  for (let failures = 0; failures < 5; failures += 1) {
    await moved({ engine }, AGENT, itemId, "start");
    await moved({ engine }, AGENT, itemId, "fail", { reason: "the verdict is: fail" });
    await database.advance(3_600_000);
  }
}

describeBoard("what waits for an item that ended badly", (board) => {
  const waiting = async (onCancelled: "hold" | "release" | null = null) => {
    const gate = await board().plant({ title: "gate" });
    const next = await board().plant({ title: "next" });
    await board().edge(gate, next, onCancelled === null ? {} : { onCancelled });
    return { gate, next };
  };
  const reasons = async (itemId: string) =>
    (
      (await board().engine.call("explain_item", { itemId })) as {
        reasons: { code: string; message: string }[];
      }
    ).reasons;
  const events = async (itemId: string) => {
    const rows = await board()
      .db.selectFrom("events")
      .select(["type", "data"])
      .where("item_id", "=", itemId)
      .orderBy("seq")
      .execute();
    return rows.at(-1);
  };

  it("stays blocked when it failed once, for it is not over [S33]", async () => {
    const { gate, next } = await waiting();
    await moved(board(), AGENT, gate, "start");
    await moved(board(), AGENT, gate, "fail", { reason: "the verdict is: fail" });
    expect(await refusedMove(board(), null, next, "start")).toMatchObject({
      errorCode: "dependency_blocked",
      blockers: [{ fromItemId: gate, currentRole: "queue" }],
    });
  });

  it("stays blocked when it was cancelled, with that reason, and whoever cancels is told what it holds up [S33]", async () => {
    const { gate, next } = await waiting();
    expect((await moved(board(), null, gate, "cancel")).heldUpItems).toEqual([
      { itemId: next, title: "next" },
    ]);
    expect(await refusedMove(board(), null, next, "start")).toMatchObject({
      errorCode: "dependency_blocked",
    });
    expect(await reasons(next)).toMatchObject([
      { code: "dependency_blocked", message: expect.stringContaining("cancelled") as string },
    ]);
    expect(await events(gate)).toMatchObject({ type: "item.advanced" });
  });

  it("stays blocked when its attempts are used up, with that reason, and an event tells it [S33]", async () => {
    const { gate, next } = await waiting("release");
    await die(board(), gate);
    expect(await refusedMove(board(), null, next, "start")).toMatchObject({
      errorCode: "dependency_blocked",
    });
    expect(await reasons(next)).toMatchObject([
      { code: "dependency_blocked", message: expect.stringContaining("dead") as string },
    ]);
    expect(await events(gate)).toMatchObject({ type: "item.dead" });
    expect(await board().engine.call("list_dead", {})).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ itemId: gate })]) as unknown[],
    });
  });

  it("goes on when its edge says that a cancelled blocker will do [S33]", async () => {
    const { gate, next } = await waiting("release");
    expect((await moved(board(), null, gate, "cancel")).unblockedItems).toEqual([
      { itemId: next, title: "next" },
    ]);
    await moved(board(), null, next, "start");
  });
});
