import { beforeAll, expect, it, vi } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { Workbench, actor, key } from "./workbench.ts";

describeEachDatabase("deleting and restoring items", (database) => {
  let bench: Workbench;
  beforeAll(() => {
    bench = new Workbench(database());
  });

  it("needs full ids", async () => {
    await expect(bench.deleteItems(["abcd"])).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });

  it("refuses an item with descendants unless told to take them along, and names their number", async () => {
    const parent = await bench.item("parent");
    const child = await bench.item("child", { parentId: parent });
    await bench.item("grandchild", { parentId: child });
    const refused = await bench.deleteItems([parent]);
    expect(refused).toMatchObject({
      deleted: 0,
      failed: 1,
      failures: [{ errorCode: "has_children", details: { descendants: 2 } }],
    });
    const done = await bench.deleteItems([parent], { recursive: true });
    expect(done).toMatchObject({
      ids: [parent],
      deleted: 3,
      descendantsDeleted: 2,
      trash: [{ itemId: parent }],
    });
    expect(await bench.exists(child)).toBe(false);
  });

  it("deletes a parent and its child that are named side by side", async () => {
    const parent = await bench.item("parent");
    const child = await bench.item("child", { parentId: parent });
    expect(await bench.deleteItems([parent, child, key()])).toMatchObject({
      deleted: 2,
      failed: 1,
      failures: [{ index: 2, errorCode: "RESOURCE_NOT_FOUND" }],
    });
  });

  it("frees those that waited for what was deleted, and names them [B24]", async () => {
    const blocker = await bench.item("blocker");
    const freed = await bench.item("freed");
    const child = await bench.item("child", { parentId: freed });
    const still = await bench.item("still waiting");
    const other = await bench.item("other");
    await bench.draw([
      { fromItemId: blocker, toItemId: freed },
      { fromItemId: blocker, toItemId: still },
      { fromItemId: other, toItemId: still },
    ]);
    const { freedItems } = await bench.deleteItems([blocker]);
    expect(freedItems).toEqual([{ itemId: freed, title: "freed" }]);
    expect(await bench.state(child)).toMatchObject({ ancestor_blockers: 0 });
    expect(await bench.state(still)).toMatchObject({ blockers: 1 });
    expect(await bench.drift()).toEqual([]);
  });

  it("does not complete a parent whose only child is deleted; judges one that keeps closed children [B33]", async () => {
    const lonely = await bench.item("lonely");
    const only = await bench.item("only", { parentId: lonely });
    await bench.deleteItems([only]);
    expect(await bench.state(lonely)).toMatchObject({ role: "queue", open_children: 0 });
    const parent = await bench.item("parent");
    const done = await bench.item("done", { parentId: parent });
    const open = await bench.item("open", { parentId: parent });
    await bench.advance(done, "complete");
    expect(await bench.deleteItems([open])).toMatchObject({
      cascadeEvents: [{ itemId: parent, applied: true }],
    });
    expect(await bench.state(parent)).toMatchObject({ role: "terminal", outcome: "done" });
    expect(await bench.drift()).toEqual([]);
  });

  it("refuses while somebody else works in the subtree, lets its holder, and never says who", async () => {
    const parent = await bench.item("parent");
    const child = await bench.item("child", { parentId: parent });
    await bench.claim(child, { agent: "ann-the-holder", session: "s1" });
    const refused = await bench.deleteItems([parent], {
      recursive: true,
      actor: actor("bob"),
      workerId: "s2",
    });
    expect(refused.failures).toMatchObject([{ errorCode: "item_held", contendedItemId: child }]);
    expect(JSON.stringify(refused)).not.toContain("ann-the-holder");
    expect(await bench.exists(child)).toBe(true);
    const mine = await bench.deleteItems([parent], {
      recursive: true,
      actor: actor("ann-the-holder"),
      workerId: "s1",
    });
    expect(mine.deleted).toBe(2);
  });

  it("refuses while a claim's expiry has passed and the clock cannot say; ends it when the clock saw its holder die", async () => {
    const item = await bench.item("expired");
    const fence = await bench.claim(item, { agent: "ann", session: "s1" }, 100_000);
    await database().advance(110_000);
    const look = vi.spyOn(bench.deps.coordination.claimClock, "look");
    look.mockResolvedValue([{ state: "unknown" }]);
    expect((await bench.deleteItems([item])).failures).toMatchObject([{ errorCode: "item_held" }]);
    look.mockResolvedValue([{ state: "dead", sinceMs: 10_000 }]);
    const { trash } = await bench.deleteItems([item]);
    expect(look).toHaveBeenLastCalledWith([{ key: item, fence, ttlMs: 100_000 }], expect.any(Number));
    await bench.restoreItems({ trashIds: [trash?.[0]?.trashId] });
    const attempts = await bench.deps.db
      .selectFrom("attempts")
      .selectAll()
      .where("item_id", "=", item)
      .execute();
    expect(attempts).toMatchObject([{ agent: "ann", end_reason: "expired" }]);
  });

  it("ends a claim that has been expired for half its ttl, whatever the clock says", async () => {
    const item = await bench.item("long gone");
    await bench.claim(item, { agent: "ann", session: "s1" }, 100_000);
    await database().advance(150_000);
    vi.spyOn(bench.deps.coordination.claimClock, "look").mockResolvedValue([{ state: "unknown" }]);
    expect(await bench.deleteItems([item])).toMatchObject({ deleted: 1 });
  });

  it("refuses a displaced holder's delete", async () => {
    const item = await bench.item("taken");
    await bench.claim(item, { agent: "ann", session: "s1" });
    await bench.expire(item);
    const late = await bench.deleteItems([item], { actor: actor("ann"), workerId: "s1" });
    expect(late.failures).toMatchObject([{ errorCode: "claim_lost" }]);
  });

  it("refuses a displaced holder's restore below what it has lost", async () => {
    const lost = await bench.item("lost");
    const child = await bench.item("child", { parentId: lost });
    await bench.deleteItems([child]);
    await bench.claim(lost, { agent: "ann", session: "s1" });
    await bench.expire(lost);
    const late = await bench.restoreItems({ itemIds: [child], actor: actor("ann"), workerId: "s1" });
    expect(late.failures).toMatchObject([{ errorCode: "claim_lost" }]);
    expect(await bench.restoreItems({ itemIds: [child], actor: actor("bob"), workerId: "b1" })).toMatchObject(
      {
        restored: 1,
      },
    );
  });

  it("replays a delete [B54]", async () => {
    const item = await bench.item("once");
    const requestId = key();
    const first = await bench.deleteItems([item], { requestId });
    expect(await bench.deleteItems([item], { requestId })).toEqual({ ...first, replayed: true });
  });

  it("brings back items, state, tenures and edges, unclaimed and with higher fences", async () => {
    const root = await bench.item("root");
    const before = await bench.item("before", { parentId: root });
    const after = await bench.item("after", { parentId: root });
    const afterChild = await bench.item("after's child", { parentId: after });
    const parent = await bench.item("parent", {
      parentId: root,
      tags: "x",
      complexity: 3,
      properties: { a: [1] },
    });
    const one = await bench.item("one", { parentId: parent });
    const two = await bench.item("two", { parentId: parent, needs: "gpu" });
    const twoChild = await bench.item("two's child", { parentId: two });
    await bench.draw([
      { fromItemId: before, toItemId: parent },
      { fromItemId: parent, toItemId: after },
      { fromItemId: one, toItemId: two, unblockAt: "review" },
      { fromItemId: one, toItemId: before, type: "RELATES_TO" },
    ]);
    await bench.claim(one, { agent: "ann", session: "s1" });
    await bench.advance(one, "start", { actor: actor("ann"), workerId: "s1" });
    const fence = (await bench.state(one)).fence;
    const content = await bench.content(two);
    const edges = await bench.edges();
    const { trash } = await bench.deleteItems([parent], {
      recursive: true,
      actor: actor("ann"),
      workerId: "s1",
    });
    expect(await bench.drift()).toEqual([]);
    expect(await bench.state(afterChild)).toMatchObject({ ancestor_blockers: 0 });

    const restored = await bench.restoreItems({ trashIds: [trash?.[0]?.trashId] });
    expect(restored).toEqual({ ids: [parent], restored: 4, failed: 0 });
    expect(await bench.drift()).toEqual([]);
    const state = await bench.state(one);
    expect(state).toMatchObject({ agent: null, role: "queue" });
    expect(state.fence).toBeGreaterThan(fence);
    expect(await bench.content(two)).toMatchObject({
      ...content,
      version: 2,
      modified_at: expect.any(Date) as unknown,
    });
    expect(await bench.state(twoChild)).toMatchObject({ ancestor_blockers: 2 });
    expect(await bench.state(afterChild)).toMatchObject({ ancestor_blockers: 1 });
    const asText = (list: { from: string; to: string }[]) =>
      list.map((edge) => `${edge.from} ${edge.to}`).toSorted();
    expect(asText(await bench.edges())).toEqual(asText(edges));
    const attempts = await bench.deps.db
      .selectFrom("attempts")
      .selectAll()
      .where("item_id", "=", one)
      .execute();
    expect(attempts).toMatchObject([{ agent: "ann", end_reason: "released" }]);
  });

  it("refuses a second restore, and one from an unknown or expired entry", async () => {
    const item = await bench.item("back and forth");
    const { trash } = await bench.deleteItems([item]);
    const trashIds = [trash?.[0]?.trashId];
    expect(await bench.restoreItems({ trashIds })).toMatchObject({ restored: 1 });
    expect((await bench.restoreItems({ trashIds })).failures).toMatchObject([
      { errorCode: "CONFLICT_ERROR" },
    ]);
    expect((await bench.restoreItems({ itemIds: [item] })).failures).toMatchObject([
      { errorCode: "CONFLICT_ERROR" },
    ]);
    expect((await bench.restoreItems({ trashIds: [key()] })).failures).toMatchObject([
      { errorCode: "RESOURCE_NOT_FOUND" },
    ]);
    await bench.deleteItems([item]);
    expect(await bench.restoreItems({ itemIds: [item] })).toMatchObject({ restored: 1 });
    await bench.deleteItems([item]);
    await database().advance(31 * 24 * 60 * 60 * 1000);
    expect((await bench.restoreItems({ itemIds: [item] })).failures).toMatchObject([
      { errorCode: "RESOURCE_NOT_FOUND" },
    ]);
  });

  it("refuses to come back under a parent that is gone or closed, and follows one that moved", async () => {
    const [parent, elsewhere] = [await bench.item("parent"), await bench.item("elsewhere")];
    const item = await bench.item("item", { parentId: parent });
    const child = await bench.item("child", { parentId: item });
    const itemTrash = (await bench.deleteItems([item], { recursive: true })).trash?.[0]?.trashId;
    const parentTrash = (await bench.deleteItems([parent])).trash?.[0]?.trashId;
    const restore = () => bench.restoreItems({ trashIds: [itemTrash] });
    expect((await restore()).failures).toMatchObject([
      { errorCode: "CONFLICT_ERROR", hint: expect.stringContaining("parent") as unknown },
    ]);
    await bench.restoreItems({ trashIds: [parentTrash] });
    await bench.advance(parent, "complete");
    expect((await restore()).failures).toMatchObject([{ errorCode: "parent_closed" }]);
    await bench.advance(parent, "reopen");
    await bench.updateItems([{ itemId: parent, parentId: elsewhere }]);
    expect(await restore()).toMatchObject({ restored: 2, failed: 0 });
    expect(await bench.content(child)).toMatchObject({
      root_id: elsewhere,
      ancestors: [elsewhere, parent, item],
      depth: 3,
    });
    expect(await bench.drift()).toEqual([]);
  });

  it("leaves out edges whose other end is gone, or that would close a cycle by now", async () => {
    const [first, item, last, gone] = [
      await bench.item("first"),
      await bench.item("item"),
      await bench.item("last"),
      await bench.item("gone"),
    ];
    await bench.draw([
      { fromItemId: first, toItemId: item },
      { fromItemId: item, toItemId: last },
      { fromItemId: gone, toItemId: item },
    ]);
    const { trash } = await bench.deleteItems([item]);
    await bench.deleteItems([gone]);
    await bench.draw([{ fromItemId: last, toItemId: first }]);
    const back = await bench.restoreItems({ trashIds: [trash?.[0]?.trashId] });
    expect(back).toMatchObject({ restored: 1, droppedDependencies: 2 });
    expect(await bench.drift()).toEqual([]);
  });

  it("restores once for one requestId", async () => {
    const item = await bench.item("once");
    const { trash } = await bench.deleteItems([item]);
    const call = { trashIds: [trash?.[0]?.trashId], requestId: key() };
    const first = await bench.restoreItems(call);
    expect(await bench.restoreItems(call)).toEqual({ ...first, replayed: true });
  });
});
