import { expect, it } from "vitest";
import { worker } from "../../support/engine.ts";
import { advanceCall, describeBoard } from "./board.ts";

describeBoard("batches of transitions", (board) => {
  const start = (itemId: string) => ({ itemId, trigger: "start" });

  it("each is judged by itself: what is refused keeps nothing else from being done", async () => {
    const [one, two, gone] = [
      await board().plant(),
      await board().plant(),
      "00000000-0000-4000-8000-00000000dead",
    ];
    const { results, summary } = await advanceCall(board(), null, {
      transitions: [start(one), { itemId: two, trigger: "resume" }, start(gone), start(two)],
    });
    expect(summary).toEqual({ total: 4, succeeded: 2, failed: 2 });
    expect(results.map((result) => (result.applied ? result.newRole : result.errorCode))).toEqual([
      "work",
      "invalid_transition",
      "item_not_found",
      "work",
    ]);
  });

  it("they are done in order, so one may rest on another of the same call", async () => {
    const [first, next] = [await board().plant(), await board().plant()];
    await board().edge(first, next);
    const { results } = await advanceCall(board(), null, {
      transitions: [
        start(next),
        { itemId: first, trigger: "complete" },
        start(next),
        start(next),
        start(next),
      ],
    });
    expect(results.map((result) => (result.applied ? result.newRole : result.errorCode))).toEqual([
      "dependency_blocked",
      "terminal",
      "work",
      "terminal",
      "invalid_transition",
    ]);
  });

  it("a hundred in one call, of different agents", async () => {
    const ids: string[] = [];
    for (let n = 0; n < 100; n += 1) ids.push(await board().plant());
    const transitions = ids.map((itemId, n) => ({
      ...start(itemId),
      actor: worker(n % 2 === 0 ? "ann" : "bob"),
    }));
    expect((await advanceCall(board(), null, { transitions })).summary.succeeded).toBe(100);
    expect(await board().audit(ids[99] ?? "")).toEqual(["start queue>work bob"]);
  });

  it("a prefix that fits several items changes nothing and lists them [B79]", async () => {
    const [one, two] = ["abcd0000-0000-4000-8000-000000000001", "abcd0000-0000-4000-8000-000000000002"];
    await board().plant({ id: one, title: "one" });
    await board().plant({ id: two, title: "two" });
    const { results } = await advanceCall(board(), null, { itemId: "abcd", trigger: "start" });
    expect(results).toMatchObject([
      {
        applied: false,
        errorCode: "ambiguous_id",
        details: {
          matches: [
            { id: one, title: "one" },
            { id: two, title: "two" },
          ],
        },
      },
    ]);
    expect(await board().roles(one, two)).toEqual(["queue", "queue"]);
  });
});
