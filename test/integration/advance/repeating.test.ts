import { expect, it } from "vitest";
import { createTestEngine } from "../../support/engine.ts";
import { testPolicies } from "../../support/policies.ts";
import { agent, claimCall } from "../claims/calls.ts";
import { advanceCall, describeBoard, key, moved } from "./board.ts";

const ann = agent("ann");
const bob = agent("bob");

describeBoard("transitions that are sent again", (board) => {
  const start = (itemId: string) => ({ itemId, trigger: "start" });

  it("are done once, and answered as before apart from the mark [B54]", async () => {
    const id = await board().plant();
    const call = { requestId: key(), transitions: [{ ...start(id), summary: "go" }] };
    const first = await advanceCall(board(), ann, call);
    const again = await advanceCall(board(), ann, call);
    expect(again.results).toEqual(first.results.map((result) => ({ ...result, replayed: true })));
    expect(await board().audit(id)).toEqual(["start queue>work ann"]);
  });

  it("are answered by another process, and after the item has moved on [B58]", async () => {
    const id = await board().plant();
    const call = { requestId: key(), transitions: [start(id)] };
    const { results } = await advanceCall(board(), ann, call);
    await moved(board(), ann, id, "complete");
    const restarted = createTestEngine(board().database, { policyOf: testPolicies });
    const again = await advanceCall({ engine: restarted }, ann, call);
    await restarted.close();
    expect(again.results).toEqual(results.map((result) => ({ ...result, replayed: true })));
    expect(await board().roles(id)).toEqual(["terminal"]);
  });

  it("replay what was done and do what was refused before [B56]", async () => {
    const [first, next] = [await board().plant(), await board().plant()];
    await board().edge(first, next);
    const call = { requestId: key(), transitions: [start(first), start(next)] };
    expect((await advanceCall(board(), ann, call)).summary).toMatchObject({ succeeded: 1, failed: 1 });
    await moved(board(), ann, first, "complete");
    const { results } = await advanceCall(board(), ann, call);
    expect(results).toMatchObject([
      { itemId: first, applied: true, newRole: "work", replayed: true },
      { itemId: next, applied: true, newRole: "work" },
    ]);
    expect(results[1]).not.toHaveProperty("replayed");
  });

  it("mean the same whether they came alone or as a list of one", async () => {
    const id = await board().plant();
    const requestId = key();
    await advanceCall(board(), ann, { requestId, itemId: id, trigger: "start" });
    const { results } = await advanceCall(board(), ann, {
      requestId,
      transitions: [{ itemId: id, trigger: "START" }],
    });
    expect(results).toMatchObject([{ replayed: true, newRole: "work" }]);
  });

  it("from another connection of the same agent are the same call", async () => {
    const id = await board().plant();
    const call = { requestId: key(), itemId: id, trigger: "start" };
    await advanceCall(board(), ann, call);
    expect((await advanceCall(board(), agent("ann", "reconnected"), call)).results).toMatchObject([
      { replayed: true },
    ]);
  });

  it("of two agents have nothing to do with each other [B59]", async () => {
    const id = await board().plant();
    const call = { requestId: key(), itemId: id, trigger: "start" };
    await advanceCall(board(), ann, call);
    expect((await advanceCall(board(), bob, call)).results).toMatchObject([{ newRole: "terminal" }]);
  });

  it("twice at the same moment are done once [B58]", async () => {
    const id = await board().plant();
    const call = { requestId: key(), itemId: id, trigger: "start" };
    const both = await Promise.all([advanceCall(board(), ann, call), advanceCall(board(), ann, call)]);
    expect(both.map(({ results: [result] }) => result?.applied)).toEqual([true, true]);
    expect(await board().audit(id)).toEqual(["start queue>work ann"]);
  });

  it("with another input are refused, and nothing of them is done [B55]", async () => {
    const [one, two] = [await board().plant(), await board().plant()];
    const requestId = key();
    await advanceCall(board(), ann, { requestId, transitions: [start(one)] });
    for (const transitions of [
      [start(two)],
      [start(one), start(two)],
      [{ itemId: one, trigger: "complete" }],
    ]) {
      await expect(advanceCall(board(), ann, { requestId, transitions })).rejects.toMatchObject({
        code: "idempotency_mismatch",
      });
    }
    expect(await board().roles(one, two)).toEqual(["work", "queue"]);
  });

  it("with another input do nothing of it, even where the first call left an element undone [B55]", async () => {
    const [one, two, three] = [await board().plant(), await board().plant(), await board().plant()];
    const requestId = key();
    const resume = { itemId: one, trigger: "resume" };
    await advanceCall(board(), ann, { requestId, transitions: [resume, start(two)] });
    const other = { requestId, transitions: [start(three), { itemId: two, trigger: "complete" }] };
    await expect(advanceCall(board(), ann, other)).rejects.toMatchObject({ code: "idempotency_mismatch" });
    expect(await board().roles(one, two, three)).toEqual(["queue", "work", "queue"]);
  });

  it("under a requestId of another tool are refused, and nothing is done [B55]", async () => {
    const [claimed, other] = [await board().plant(), await board().plant()];
    const requestId = key();
    await claimCall(board().engine, ann, { requestId, claims: [{ itemId: claimed }] });
    const call = { requestId, transitions: [start(other)] };
    await expect(advanceCall(board(), ann, call)).rejects.toMatchObject({ code: "idempotency_mismatch" });
    expect(await board().roles(other)).toEqual(["queue"]);
  });

  it("of an item that was deleted since are refused as such [P-24]", async () => {
    const id = await board().plant();
    const call = { requestId: key(), itemId: id, trigger: "start" };
    await advanceCall(board(), ann, call);
    await board().engine.call("manage_items", { operation: "delete", itemIds: [id] });
    expect((await advanceCall(board(), ann, call)).results).toMatchObject([
      { applied: false, errorCode: "idempotency_target_gone" },
    ]);
  });

  it("under a malformed requestId are refused [B57]", async () => {
    const id = await board().plant();
    const call = { requestId: "tuesday", itemId: id, trigger: "start" };
    await expect(advanceCall(board(), ann, call)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    expect(await board().roles(id)).toEqual(["queue"]);
  });
});
