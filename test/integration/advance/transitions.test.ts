import { expect, it } from "vitest";
import { agent, eventsOf, stateOf } from "../claims/calls.ts";
import { advanceCall, describeBoard, moved, refusedMove } from "./board.ts";

const ann = agent("ann");

describeBoard("transitions", (board) => {
  it("start takes an item from queue to work and from work to done, never leaving it in progress [B1]", async () => {
    const id = await board().plant();
    expect(await moved(board(), null, id, "start")).toMatchObject({
      previousRole: "queue",
      newRole: "work",
      statusLabel: "in-progress",
    });
    expect(await moved(board(), null, id, "start")).toMatchObject({
      previousRole: "work",
      newRole: "terminal",
      statusLabel: "done",
    });
    expect(await stateOf(board().db, id)).toMatchObject({
      role: "terminal",
      outcome: "done",
      status_label: "done",
    });
  });

  it("an item is not closed over open children: the refusal names them, the oldest first, and counts all [P-30]", async () => {
    const id = await board().plant();
    const closed = await board().plant({ parentId: id, role: "terminal" });
    const children: string[] = [];
    for (let child = 0; child < 12; child += 1) {
      children.push(await board().plant({ parentId: id, title: `child ${child}` }));
    }
    const refused = await refusedMove(board(), null, id, "complete");
    expect(refused).toMatchObject({ errorCode: "open_children", details: { openChildren: 12 } });
    const named = refused.details?.["children"] as { itemId: string }[];
    expect(named).toHaveLength(10);
    expect(named).toContainEqual({ itemId: children[0], title: "child 0", role: "queue" });
    expect(named.map(({ itemId }) => itemId)).not.toContain(closed);
    // What closes them together is complete_tree: nothing alive is ever left under what is closed.
    const tree: unknown = await board().engine.call("complete_tree", { rootId: id, trigger: "cancel" });
    expect(tree).toMatchObject({ summary: { completed: 13 } });
    expect(await stateOf(board().db, id)).toMatchObject({ role: "terminal" });
  });

  it("start stops in review where the schema has one", async () => {
    const id = await board().plant({ type: "reviewed", role: "work" });
    expect((await moved(board(), null, id, "start")).newRole).toBe("review");
    expect((await moved(board(), null, id, "start")).newRole).toBe("terminal");
  });

  it("block from review and resume leads back to review, and nothing is left of the block [B6]", async () => {
    const id = await board().plant({ type: "reviewed", role: "review", statusLabel: "in-progress" });
    await moved(board(), null, id, "block");
    expect(await stateOf(board().db, id)).toMatchObject({
      role: "blocked",
      previous_role: "review",
      status_label: "blocked",
    });
    expect(await moved(board(), null, id, "resume")).toMatchObject({ newRole: "review" });
    expect(await stateOf(board().db, id)).toMatchObject({
      role: "review",
      previous_role: null,
      status_label: null,
    });
  });

  it("what cannot be says why, and what to do instead [B7]", async () => {
    const queued = await board().plant();
    const blocked = await board().plant({ role: "blocked" });
    const resume = await refusedMove(board(), null, queued, "resume");
    expect(resume).toMatchObject({
      errorCode: "invalid_transition",
      errorKind: "permanent",
      previousRole: "queue",
    });
    expect(resume.error).toContain("not blocked");
    expect((await refusedMove(board(), null, blocked, "block")).error).toContain("already blocked");
    for (const trigger of ["start", "complete"]) {
      expect((await refusedMove(board(), null, blocked, trigger)).error).toContain("resume it first");
    }
    expect(await board().roles(queued, blocked)).toEqual(["queue", "blocked"]);
    expect(await board().audit(blocked)).toEqual([]);
  });

  it("cascade is no trigger for callers, and nothing of such a call is done [B8]", async () => {
    const [one, two] = [await board().plant(), await board().plant()];
    const call = {
      transitions: [
        { itemId: one, trigger: "start" },
        { itemId: two, trigger: "cascade" },
      ],
    };
    await expect(advanceCall(board(), null, call)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    expect(await board().roles(one, two)).toEqual(["queue", "queue"]);
  });

  it("triggers are read in any case [B8]", async () => {
    const id = await board().plant();
    expect((await moved(board(), null, id, "START")).newRole).toBe("work");
  });

  it("a queued item that waits for a blocker can be cancelled [B9]", async () => {
    const [blocker, id] = [await board().plant(), await board().plant()];
    await board().edge(blocker, id);
    expect(await moved(board(), null, id, "cancel")).toMatchObject({
      newRole: "terminal",
      statusLabel: "cancelled",
    });
    expect(await stateOf(board().db, id)).toMatchObject({ outcome: "cancelled" });
  });

  it("a terminal item knows only reopen, which leads to queue and takes its label off [B10]", async () => {
    const id = await board().plant({ role: "terminal", statusLabel: "done" });
    for (const trigger of ["start", "complete", "block", "hold", "cancel", "resume", "requeue"]) {
      expect((await refusedMove(board(), null, id, trigger)).errorCode).toBe("invalid_transition");
    }
    expect(await moved(board(), null, id, "reopen")).toMatchObject({
      previousRole: "terminal",
      newRole: "queue",
    });
    expect(await stateOf(board().db, id)).toMatchObject({ role: "queue", outcome: null, status_label: null });
  });

  it("an item is not created into a role: nothing slips past the gates [B11]", async () => {
    const call = { operation: "create", items: [{ title: "half done", role: "work" }] };
    const created = Promise.try(() => board().engine.call("manage_items", call));
    await expect(created).rejects.toThrow("items start in queue");
  });

  it("requeue hands work back to the queue, and the audit says who did it", async () => {
    const id = await board().plant({ role: "work", statusLabel: "in-progress" });
    await moved(board(), ann, id, "requeue", { summary: "not mine after all" });
    expect(await stateOf(board().db, id)).toMatchObject({ role: "queue", status_label: null, attempts: 0 });
    expect(await board().audit(id)).toEqual(["requeue work>queue ann"]);
    expect(await eventsOf(board().db, id)).toEqual(["item.advanced"]);
  });

  it("a label of the caller's own is worn instead of the trigger's", async () => {
    const id = await board().plant();
    expect(await moved(board(), null, id, "hold", { label: "waiting for legal" })).toMatchObject({
      statusLabel: "waiting for legal",
    });
  });

  it("one transition needs no list, and an item may be named by the beginning of its id", async () => {
    const id = await board().plant();
    const { results, summary } = await advanceCall(board(), null, {
      itemId: id.slice(0, 8),
      trigger: "start",
      summary: "begun",
    });
    expect(results).toMatchObject([{ itemId: id, applied: true, newRole: "work", summary: "begun" }]);
    expect(summary).toEqual({ total: 1, succeeded: 1, failed: 0 });
    const [row] = await board().db.selectFrom("transitions").selectAll().where("item_id", "=", id).execute();
    expect(row).toMatchObject({ summary: "begun", from_label: null, to_label: "in-progress" });
  });

  it("an item that is not there is refused as such", async () => {
    const refusal = await refusedMove(board(), null, "00000000-0000-4000-8000-000000000000", "start");
    expect(refusal).toMatchObject({ errorCode: "item_not_found", errorKind: "permanent" });
    expect(refusal.hint).not.toBe("");
  });
});
