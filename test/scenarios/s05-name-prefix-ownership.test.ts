import { expect, it } from "vitest";
import { describeEachDatabase } from "../support/database.ts";
import { asking } from "../support/asking.ts";
import { createTestEngine } from "../support/engine.ts";
import { plantItem } from "../support/fixtures.ts";

describeEachDatabase("an item assigned to worker W", (database) => {
  it("is seen and claimed by W alone, not by W-2 or W-3 [S5]", async () => {
    const engine = createTestEngine(database());
    const { next, explain, claim } = asking(engine);
    const item = await plantItem(database().db, { assignee: "W" });
    for (const other of ["W-2", "W-3", "w"]) {
      expect(await next({ agent: other })).toMatchObject({ recommendations: [], excluded: { assignee: 1 } });
      const explained = await explain(item, { agent: other });
      expect(explained).toMatchObject({ offered: false, reasons: [{ code: "assignee" }] });
      expect(await claim(other, { selector: {} })).toMatchObject({ outcome: "none_eligible" });
    }
    expect(await next({ agent: "W" })).toMatchObject({
      recommendations: [{ itemId: item }],
    });
    expect(await claim("W", { selector: {} })).toMatchObject({ outcome: "success", itemId: item });
    await engine.close();
  });
});
