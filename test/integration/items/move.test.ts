import { beforeAll, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { actor, Workbench } from "./workbench.ts";

describeEachDatabase("moving items", (database) => {
  let bench: Workbench;
  beforeAll(() => {
    bench = new Workbench(database());
  });

  it("rewrites depth, root and ancestors of the whole subtree [B77]", async () => {
    const [from, to] = [await bench.item("from"), await bench.item("to")];
    const moved = await bench.item("moved", { parentId: from });
    const child = await bench.item("child", { parentId: moved });
    const grandchild = await bench.item("grandchild", { parentId: child });
    const deep = await bench.item("deep", { parentId: to });
    expect(await bench.updateItems([{ itemId: moved, parentId: deep, title: "arrived" }])).toMatchObject({
      updated: 1,
    });
    expect(await bench.content(grandchild)).toMatchObject({
      root_id: to,
      depth: 4,
      ancestors: [to, deep, moved, child],
    });
    expect(await bench.content(moved)).toMatchObject({ title: "arrived", parent_id: deep, version: 2 });
    await bench.updateItems([{ itemId: child, parentId: null }]);
    expect(await bench.content(grandchild)).toMatchObject({ root_id: child, depth: 1, ancestors: [child] });
    expect(await bench.drift()).toEqual([]);
  });

  it("refuses a place under itself or below, and changes nothing [B77]", async () => {
    const top = await bench.item("top");
    const below = await bench.item("below", { parentId: top });
    const { failures } = await bench.updateItems([
      { itemId: top, parentId: below },
      { itemId: top, parentId: top },
      { itemId: top, parentId: "00000000-0000-4000-8000-000000000000" },
    ]);
    expect(failures).toMatchObject([
      { errorCode: "cycle_detected" },
      { errorCode: "cycle_detected" },
      { errorCode: "RESOURCE_NOT_FOUND" },
    ]);
    expect(await bench.content(top)).toMatchObject({ version: 1, parent_id: null });
  });

  it("refuses an open item under a closed parent [B32]", async () => {
    const closed = await bench.item("closed");
    await bench.advance(closed, "complete");
    const open = await bench.item("open");
    expect((await bench.updateItems([{ itemId: open, parentId: closed }])).failures).toMatchObject([
      { errorCode: "parent_closed" },
    ]);
  });

  it("judges the old parent as if the item had finished, when closed children remain [B33]", async () => {
    const grandparent = await bench.item("grandparent");
    const parent = await bench.item("parent", { parentId: grandparent });
    const done = await bench.item("done", { parentId: parent });
    const open = await bench.item("open", { parentId: parent });
    const waiting = await bench.item("waiting");
    await bench.draw([{ fromItemId: grandparent, toItemId: waiting }]);
    await bench.advance(done, "complete");
    const { items } = await bench.updateItems([{ itemId: open, parentId: null }]);
    expect(items[0]).toMatchObject({
      cascadeEvents: [
        { itemId: parent, applied: true },
        { itemId: grandparent, applied: true },
      ],
    });
    expect(await bench.state(parent)).toMatchObject({ role: "terminal", outcome: "done" });
    expect(await bench.state(grandparent)).toMatchObject({ role: "terminal" });
    expect(await bench.state(waiting)).toMatchObject({ blockers: 0 });
    expect(await bench.drift()).toEqual([]);
  });

  it("leaves a parent open that has no child left [B33]", async () => {
    const parent = await bench.item("parent");
    const only = await bench.item("only", { parentId: parent });
    await bench.updateItems([{ itemId: only, parentId: null }]);
    expect(await bench.state(parent)).toMatchObject({ role: "queue", open_children: 0 });
  });

  it("counts the blocked ancestors of the new place for the whole subtree", async () => {
    const blocker = await bench.item("blocker");
    const blocked = await bench.item("blocked");
    const moved = await bench.item("moved");
    const child = await bench.item("child", { parentId: moved });
    await bench.draw([{ fromItemId: blocker, toItemId: blocked }]);
    await bench.updateItems([{ itemId: moved, parentId: blocked }]);
    expect(await bench.state(child)).toMatchObject({ ancestor_blockers: 1 });
    await bench.advance(blocker, "complete");
    expect(await bench.state(child)).toMatchObject({ ancestor_blockers: 0 });
    await bench.advance(blocker, "reopen");
    expect(await bench.state(child)).toMatchObject({ ancestor_blockers: 1 });
    await bench.updateItems([{ itemId: moved, parentId: null }]);
    expect(await bench.state(child)).toMatchObject({ ancestor_blockers: 0 });
    expect(await bench.drift()).toEqual([]);
  });

  it("refuses a place under which the item would wait for itself through an edge [S31]", async () => {
    const parent = await bench.item("parent");
    const item = await bench.item("item");
    const other = await bench.item("other");
    // The item comes before the other, which comes before the parent: it cannot be part of the parent.
    await bench.draw([
      { fromItemId: item, toItemId: other },
      { fromItemId: other, toItemId: parent },
    ]);
    const { failures } = await bench.updateItems([{ itemId: item, parentId: parent }]);
    expect(failures).toMatchObject([{ errorCode: "cycle_detected" }]);
    expect(failures?.[0]?.error).toContain("other");
    // And it cannot leave a parent that waits for another of the parent's own children into the end of one that waits for it.
    const late = await bench.item("late");
    await bench.draw([{ fromItemId: parent, toItemId: late }]);
    const child = await bench.item("child", { parentId: late });
    expect((await bench.updateItems([{ itemId: child, parentId: item }])).failures).toBeUndefined();
    expect((await bench.updateItems([{ itemId: late, parentId: item }])).failures).toMatchObject([
      { errorCode: "cycle_detected" },
    ]);
    expect(await bench.drift()).toEqual([]);
  });

  it("pulls a queued parent to work when an item in work arrives", async () => {
    const parent = await bench.item("parent");
    const item = await bench.item("item");
    await bench.advance(item, "start");
    await bench.updateItems([{ itemId: item, parentId: parent }]);
    expect(await bench.state(parent)).toMatchObject({ role: "work" });
    expect(await bench.drift()).toEqual([]);
  });

  it("refuses a displaced holder's move into what it has lost, as it refuses to create there", async () => {
    const [lost, item] = [await bench.item("lost"), await bench.item("item")];
    await bench.claim(lost, { agent: "ann", session: "s1" });
    await bench.expire(lost);
    const late = await bench.updateItems([{ itemId: item, parentId: lost }], {
      actor: actor("ann"),
      workerId: "s1",
    });
    expect(late.failures).toMatchObject([{ errorCode: "claim_lost" }]);
    expect(await bench.content(item)).toMatchObject({ parent_id: null, version: 1 });
  });
});
