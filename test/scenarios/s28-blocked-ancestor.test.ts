import { expect, it } from "vitest";
import { describeEachDatabase } from "../support/database.ts";
import { asking } from "../support/asking.ts";
import { createTestEngine } from "../support/engine.ts";
import { plantEdge, plantItem } from "../support/fixtures.ts";

describeEachDatabase("what stands below an item that waits for A", (database) => {
  it("is not ready at any depth while A is open, explain names A, and all of it is ready after [S28]", async () => {
    const engine = createTestEngine(database());
    const { search, explain, blocked: listBlocked, advance } = asking(engine);
    const { db } = database();
    const a = await plantItem(db, { title: "A" });
    const b = await plantItem(db, { title: "B" });
    const child = await plantItem(db, { title: "child", parentId: b });
    const sibling = await plantItem(db, { title: "sibling", parentId: b });
    let deepest = child;
    for (let depth = 0; depth < 6; depth += 1) {
      deepest = await plantItem(db, { title: `depth ${depth}`, parentId: deepest });
    }
    await plantEdge(db, a, b);

    for (const id of [sibling, deepest]) {
      const { offered, reasons } = await explain(id);
      expect(offered).toBe(false);
      expect(reasons).toMatchObject([{ code: "ancestor_blocked", itemId: a, clearedBy: "finishing it" }]);
      expect(reasons[0]?.message).toContain(`"A"`);
      expect(reasons[0]?.message).toContain(b);
    }
    expect(await readyIds()).toEqual([a]);
    const blocked = await listBlocked({ ancestorId: child });
    expect(blocked.blockedItems).toHaveLength(7);
    expect(blocked.blockedItems[0]?.blockedBy).toMatchObject([
      { itemId: a, throughAncestorId: b, satisfied: false },
    ]);

    await advance({ itemId: a, trigger: "complete" }, "w");
    expect(await readyIds()).toEqual([sibling, deepest].toSorted());
    expect(await explain(deepest)).toMatchObject({
      offered: true,
      reasons: [],
    });
    await engine.close();

    async function readyIds(): Promise<string[]> {
      const ready = await search({ readiness: "ready" });
      return ready.items.map((item) => item.id).toSorted();
    }
  });
});
