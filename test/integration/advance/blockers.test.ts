import { expect, it } from "vitest";
import { stateOf } from "../claims/calls.ts";
import { describeBoard, moved, refusedMove } from "./board.ts";

describeBoard("transitions of items that wait for others", (board) => {
  it("a blocker holds up a start until it is done, and the refusal names it [B16]", async () => {
    const blocker = await board().plant({ title: "lay the ground" });
    const id = await board().plant();
    await board().edge(blocker, id);
    for (const step of [null, "start", "block", "resume"] as const) {
      if (step !== null) await moved(board(), null, blocker, step);
      const refusal = await refusedMove(board(), null, id, "start");
      expect(refusal).toMatchObject({ errorCode: "dependency_blocked", targetRole: "work" });
      const [role] = await board().roles(blocker);
      expect(refusal.blockers).toEqual([
        { fromItemId: blocker, title: "lay the ground", currentRole: role, requiredRole: "terminal" },
      ]);
    }
    await moved(board(), null, blocker, "complete");
    expect((await moved(board(), null, id, "start")).newRole).toBe("work");
  });

  it("only the blockers that still hold are named", async () => {
    const [over, open, id] = [
      await board().plant({ role: "terminal" }),
      await board().plant(),
      await board().plant(),
    ];
    await board().edge(over, id);
    await board().edge(open, id);
    const refusal = await refusedMove(board(), null, id, "complete");
    expect(refusal.blockers?.map((one) => one.fromItemId)).toEqual([open]);
    expect(refusal.error).toContain("1 unsatisfied dependency");
  });

  it("an edge may ask for less than the end, and a blocker that is itself blocked gives nothing [B17]", async () => {
    const [blocker, id] = [await board().plant(), await board().plant()];
    await board().edge(blocker, id, { unblockAt: "work" });
    await refusedMove(board(), null, id, "start");
    expect((await moved(board(), null, blocker, "start")).unblockedItems).toMatchObject([{ itemId: id }]);
    await moved(board(), null, blocker, "block");
    expect((await refusedMove(board(), null, id, "start")).blockers).toMatchObject([
      { currentRole: "blocked", requiredRole: "work" },
    ]);
    await moved(board(), null, blocker, "resume");
    expect((await moved(board(), null, id, "start")).newRole).toBe("work");
  });

  it("an edge that the other end stated holds in the same way [B18]", async () => {
    const [blocker, id] = [await board().plant(), await board().plant({ title: "waits" })];
    const edges = {
      operation: "create",
      dependencies: [{ fromItemId: id, toItemId: blocker, type: "IS_BLOCKED_BY" }],
    };
    await board().engine.call("manage_dependencies", edges);
    expect((await refusedMove(board(), null, id, "start")).blockers).toMatchObject([{ fromItemId: blocker }]);
    expect((await moved(board(), null, blocker, "complete")).unblockedItems).toEqual([
      { itemId: id, title: "waits" },
    ]);
    await moved(board(), null, id, "start");
  });

  it("what was freed is told once: not while another blocker holds, and not when it is over already [B26]", async () => {
    const [first, second, id] = [
      await board().plant(),
      await board().plant(),
      await board().plant({ title: "next" }),
    ];
    await board().edge(first, id);
    await board().edge(second, id);
    expect((await moved(board(), null, first, "complete")).unblockedItems).toBeUndefined();
    expect((await moved(board(), null, second, "complete")).unblockedItems).toEqual([
      { itemId: id, title: "next" },
    ]);
    await moved(board(), null, id, "complete");
    await moved(board(), null, first, "reopen");
    expect((await moved(board(), null, first, "complete")).unblockedItems).toBeUndefined();
  });

  it("a cancelled blocker goes on holding, the cancel lists what it holds up, and says nothing of the rest [B25]", async () => {
    const [blocker, holds, lets] = [
      await board().plant(),
      await board().plant({ title: "held" }),
      await board().plant({ title: "let go" }),
    ];
    await board().edge(blocker, holds);
    await board().edge(blocker, lets, { onCancelled: "release" });
    const cancelled = await moved(board(), null, blocker, "cancel");
    expect(cancelled.heldUpItems).toEqual([{ itemId: holds, title: "held" }]);
    expect(cancelled.unblockedItems).toEqual([{ itemId: lets, title: "let go" }]);
    expect((await refusedMove(board(), null, holds, "start")).blockers).toMatchObject([
      { fromItemId: blocker, cancelled: true },
    ]);
    await moved(board(), null, lets, "start");
  });

  it("a blocker that opens again holds up again what has not moved on", async () => {
    const [blocker, id] = [await board().plant({ role: "terminal" }), await board().plant()];
    await board().edge(blocker, id);
    expect(await stateOf(board().db, id)).toMatchObject({ blockers: 0 });
    await moved(board(), null, blocker, "reopen");
    expect(await stateOf(board().db, id)).toMatchObject({ blockers: 1 });
    await refusedMove(board(), null, id, "start");
  });

  it("everything below a container that waits learns that it is free", async () => {
    const [blocker, root] = [await board().plant(), await board().plant()];
    const mid = await board().plant({ parentId: root });
    const leaf = await board().plant({ parentId: mid });
    await board().edge(blocker, root);
    expect(await stateOf(board().db, leaf)).toMatchObject({ ancestor_blockers: 1 });
    await moved(board(), null, blocker, "complete");
    expect(await stateOf(board().db, leaf)).toMatchObject({ ancestor_blockers: 0 });
    await moved(board(), null, blocker, "reopen");
    expect(await stateOf(board().db, leaf)).toMatchObject({ ancestor_blockers: 1 });
  });
});
