import { expect, it } from "vitest";
import { describeEachDatabase } from "../support/database.ts";
import { asking } from "../support/asking.ts";
import { createTestEngine } from "../support/engine.ts";
import { plantEdge, plantItem } from "../support/fixtures.ts";

describeEachDatabase("the ready list", (database) => {
  it("has what is waited for, and not what waits [S27]", async () => {
    const engine = createTestEngine(database());
    const { search, blocked: listBlocked } = asking(engine);
    const { db } = database();
    const a = await plantItem(db, { title: "A" });
    const b = await plantItem(db, { title: "B" });
    await plantEdge(db, b, a);
    const epic = await plantItem(db, { title: "epic", type: "epic" });
    await plantItem(db, { title: "step of the epic", parentId: epic });
    const bug = await plantItem(db, { title: "bug", type: "bug" });
    await plantEdge(db, bug, epic);

    const ready = await search({ readiness: "ready" });
    expect(ready.items.map((item) => item.id).toSorted()).toEqual([b, bug].toSorted());
    const epics = await search({ readiness: "ready", type: "epic" });
    expect(epics).toMatchObject({ items: [], total: 0 });
    const blocked = await listBlocked();
    expect(blocked.total).toBe(3);
    expect(blocked.blockedItems).toContainEqual(
      expect.objectContaining<object>({
        itemId: a,
        blockType: "dependency",
        blockerCount: 1,
        blockedBy: [
          { itemId: b, title: "B", role: "queue", effectiveUnblockRole: "terminal", satisfied: false },
        ],
      }),
    );
    await engine.close();
  });
});
