import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { describeEachDatabase } from "../support/database.ts";
import { createTestEngine, worker } from "../support/engine.ts";
import { plantItem } from "../support/fixtures.ts";

describeEachDatabase("a worker that only reviews, while only builds are ready", (database) => {
  it("is told that its role or capability is missing, and nothing changes hands [S6]", async () => {
    const engine = createTestEngine(database());
    const build = await plantItem(database().db, { title: "build", needs: ["build"] });
    for (let turn = 0; turn < 3; turn += 1) {
      const { claims } = await claim({ selector: {} }, "review");
      expect(claims).toMatchObject([{ outcome: "none_eligible", excluded: { capabilities: 1 } }]);
      const byRole = await claim({ selector: { role: "review" } }, "review");
      expect(byRole.claims).toMatchObject([{ outcome: "queue_empty", kind: "permanent" }]);
    }
    const next = await engine.call("get_next_item", { agent: "r", capabilities: "review" });
    expect(next).toMatchObject({ recommendations: [], excluded: { capabilities: 1 } });
    const explained = await engine.call("explain_item", { itemId: build, agent: "r", capabilities: "review" });
    expect(explained.reasons).toMatchObject([{ code: "capabilities", message: "it needs build" }]);
    expect(await engine.call("list_claims", {})).toMatchObject({ claims: [], total: 0 });
    await engine.close();

    function claim(entry: object, capabilities: string): Promise<any> {
      const call = { actor: worker("r"), workerId: "r-1", requestId: randomUUID(), capabilities };
      return engine.call("claim_item", { ...call, claims: [entry] });
    }
  });
});
