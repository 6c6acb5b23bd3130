import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { describeEachDatabase } from "../support/database.ts";
import { createTestEngine, worker } from "../support/engine.ts";
import { plantItem } from "../support/fixtures.ts";

describeEachDatabase("an item assigned to worker W", (database) => {
  it("is seen and claimed by W alone, not by W-2 or W-3 [S5]", async () => {
    const engine = createTestEngine(database());
    const item = await plantItem(database().db, { assignee: "W" });
    for (const other of ["W-2", "W-3", "w"]) {
      const next = await engine.call("get_next_item", { agent: other });
      expect(next).toMatchObject({ recommendations: [], excluded: { assignee: 1 } });
      const explained = await engine.call("explain_item", { itemId: item, agent: other });
      expect(explained).toMatchObject({ offered: false, reasons: [{ code: "assignee" }] });
      const { claims } = await claim(other);
      expect(claims).toMatchObject([{ outcome: "none_eligible" }]);
    }
    expect(await engine.call("get_next_item", { agent: "W" })).toMatchObject({ recommendations: [{ itemId: item }] });
    expect((await claim("W")).claims).toMatchObject([{ outcome: "success", itemId: item }]);
    await engine.close();

    function claim(agent: string): Promise<any> {
      const claims = [{ selector: {} }];
      return engine.call("claim_item", { actor: worker(agent), workerId: `${agent}-s`, requestId: randomUUID(), claims });
    }
  });
});
