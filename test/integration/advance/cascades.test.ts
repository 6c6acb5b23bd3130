import { expect, it } from "vitest";
import { agent, granted, release, stateOf, tenuresOf } from "../claims/calls.ts";
import { advanceCall, describeBoard, moved, refusedMove } from "./board.ts";

const ann = agent("ann");
const bob = agent("bob");

describeBoard("cascades", (board) => {
  async function family(
    parent: object = {},
    depth = 1,
  ): Promise<{ chain: string[]; one: string; two: string }> {
    const chain: string[] = [];
    for (let level = 0; level < depth; level += 1) {
      chain.push(await board().plant({ title: `level ${level}`, parentId: chain.at(-1) ?? null, ...parent }));
    }
    const parentId = chain.at(-1) ?? null;
    return { chain, one: await board().plant({ parentId }), two: await board().plant({ parentId }) };
  }

  it("the last child that completes closes its parent and what is above it, once [B27, B31]", async () => {
    const { chain, one, two } = await family({ role: "work" }, 3);
    expect((await moved(board(), ann, one, "complete")).cascadeEvents).toBeUndefined();
    const { cascadeEvents } = await moved(board(), ann, two, "complete");
    expect(cascadeEvents).toEqual(
      chain.toReversed().map((itemId, n) => ({
        itemId,
        title: `level ${2 - n}`,
        previousRole: "work",
        targetRole: "terminal",
        applied: true,
      })),
    );
    expect(await board().roles(...chain)).toEqual(["terminal", "terminal", "terminal"]);
    for (const id of chain) expect(await board().audit(id)).toEqual(["cascade work>terminal ann"]);
  });

  it("siblings that end in one call close their parent exactly once [B31]", async () => {
    const { chain, one, two } = await family({ role: "work" });
    const { results } = await advanceCall(board(), ann, {
      transitions: [
        { itemId: one, trigger: "complete" },
        { itemId: two, trigger: "cancel" },
      ],
    });
    expect(results.map((result) => result.applied && result.cascadeEvents?.length)).toEqual([undefined, 1]);
    expect(await board().audit(chain[0] ?? "")).toEqual(["cascade work>terminal ann"]);
    expect(await stateOf(board().db, chain[0] ?? "")).toMatchObject({
      outcome: "done",
      open_children: 0,
      done_children: 1,
    });
  });

  it("a container of which nothing was done ends cancelled", async () => {
    const { chain, one, two } = await family();
    await moved(board(), null, one, "cancel");
    await moved(board(), null, two, "cancel");
    expect(await stateOf(board().db, chain[0] ?? "")).toMatchObject({
      outcome: "cancelled",
      status_label: "cancelled",
    });
  });

  it("a parent that is blocked or waits for a dependency is not closed, and the event says so [B30]", async () => {
    const blocked = await family({ role: "blocked" });
    await moved(board(), null, blocked.one, "complete");
    expect((await moved(board(), null, blocked.two, "complete")).cascadeEvents).toMatchObject([
      { itemId: blocked.chain[0], applied: false, roleBlocked: true },
    ]);
    const waiting = await family();
    const blocker = await board().plant();
    await board().edge(blocker, waiting.chain[0] ?? "");
    await moved(board(), null, waiting.one, "complete");
    expect((await moved(board(), null, waiting.two, "complete")).cascadeEvents).toMatchObject([
      { itemId: waiting.chain[0], applied: false, dependencyBlocked: true },
    ]);
    expect(await board().roles(...blocked.chain, ...waiting.chain)).toEqual(["blocked", "queue"]);
  });

  it.each(["manual", "permanent"])("a %s parent moves by no cascade [B10, B34]", async (type) => {
    const { chain, one, two } = await family({ type });
    await moved(board(), null, one, "start");
    expect(await board().roles(...chain)).toEqual(["queue"]);
    await moved(board(), null, one, "complete");
    expect((await moved(board(), null, two, "complete")).cascadeEvents).toBeUndefined();
    expect(await board().roles(...chain)).toEqual(["queue"]);
    await moved(board(), null, chain[0] ?? "", "complete");
    // Alive below it the child would never be offered: first the parent, by whoever may open it.
    expect(await refusedMove(board(), null, two, "reopen")).toMatchObject({ errorCode: "parent_closed" });
    expect(await board().roles(...chain)).toEqual(["terminal"]);
    await moved(board(), null, chain[0] ?? "", "reopen");
    await moved(board(), null, two, "reopen");
    expect(await board().roles(...chain, two)).toEqual(["queue", "queue"]);
  });

  it("a start pulls the whole chain of queued parents to work, none of them done [B13]", async () => {
    const { chain, one } = await family({}, 3);
    expect((await moved(board(), ann, one, "start")).cascadeEvents?.map((event) => event.itemId)).toEqual(
      chain.toReversed(),
    );
    for (const id of chain)
      expect(await stateOf(board().db, id)).toMatchObject({ role: "work", status_label: "in-progress" });
  });

  it("a child that opens again opens the parents that closed by themselves, into work [B10]", async () => {
    const { chain, one, two } = await family({}, 2);
    await moved(board(), null, one, "complete");
    await moved(board(), null, two, "complete");
    await moved(board(), null, one, "reopen");
    expect(await board().roles(...chain, one)).toEqual(["work", "work", "queue"]);
    expect(await stateOf(board().db, chain[1] ?? "")).toMatchObject({
      open_children: 1,
      done_children: 1,
      outcome: null,
    });
    await moved(board(), null, one, "complete");
    expect(await board().roles(...chain)).toEqual(["terminal", "terminal"]);
  });

  it("nothing that would leave a live child under a closed parent is done", async () => {
    const { chain } = await family({ role: "work" });
    for (const trigger of ["start", "complete", "cancel"]) {
      expect(await refusedMove(board(), null, chain[0] ?? "", trigger)).toMatchObject({
        errorCode: "open_children",
        details: { openChildren: 2 },
      });
    }
  });

  it("a parent that somebody else holds is not closed under them, and closes when they let go", async () => {
    const { chain, one, two } = await family({ role: "work" }, 2);
    const held = chain[1] ?? "";
    await granted(board().engine, bob, { itemId: held });
    await moved(board(), ann, one, "complete");
    expect((await moved(board(), ann, two, "complete")).cascadeEvents).toMatchObject([
      { itemId: held, applied: false, heldByAnother: true },
    ]);
    expect(await board().roles(...chain)).toEqual(["work", "work"]);
    await release(board().engine, bob, { itemId: held });
    expect(await board().roles(...chain)).toEqual(["terminal", "terminal"]);
    expect(await tenuresOf(board().db, held)).toEqual(["bob-1: released"]);
  });

  it("and closes when their claim lapses and is swept, which is no bad end", async () => {
    const { chain, one, two } = await family({ role: "work" });
    const held = chain[0] ?? "";
    await granted(board().engine, bob, { itemId: held, ttlSeconds: 60 });
    await moved(board(), ann, one, "complete");
    await moved(board(), ann, two, "complete");
    await board().database.advance(120_000);
    await board().engine.engine.sweep(new AbortController().signal);
    expect(await stateOf(board().db, held)).toMatchObject({
      role: "terminal",
      outcome: "done",
      agent: null,
      attempts: 0,
    });
  });

  it("and closes when they requeue it, or at once when they end the last child themselves", async () => {
    const handed = await family({ role: "work" });
    await granted(board().engine, bob, { itemId: handed.chain[0] ?? "" });
    await moved(board(), ann, handed.one, "complete");
    await moved(board(), ann, handed.two, "complete");
    expect((await moved(board(), bob, handed.chain[0] ?? "", "requeue")).newRole).toBe("terminal");

    const own = await family({ role: "work" });
    await granted(board().engine, bob, { itemId: own.chain[0] ?? "" });
    await moved(board(), bob, own.one, "complete");
    await moved(board(), bob, own.two, "complete");
    expect(await board().roles(...own.chain)).toEqual(["terminal"]);
    expect(await tenuresOf(board().db, own.chain[0] ?? "")).toEqual(["bob-1: completed"]);
  });
});
