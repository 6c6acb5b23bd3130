import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { describeEachDatabase } from "../support/database.ts";
import { createTestEngine, worker } from "../support/engine.ts";
import { plantItem } from "../support/fixtures.ts";

describeEachDatabase("recommendations", (database) => {
  it("never offer another's claimed item, and say so when nothing else is ready [S3]", async () => {
    const engine = createTestEngine(database());
    const only = await plantItem(database().db, { title: "only one" });
    const forA = await engine.call("get_next_item", { agent: "a", workerId: "a-1" });
    expect(forA).toMatchObject({ recommendations: [{ itemId: only }], total: 1 });
    const claims = [{ itemId: only }];
    await engine.call("claim_item", { actor: worker("a"), workerId: "a-1", requestId: randomUUID(), claims });
    const forB = await engine.call("get_next_item", { agent: "b", workerId: "b-1" });
    expect(forB).toMatchObject({ recommendations: [], total: 0, excluded: { claimed: 1 } });
    expect(forB.nextAt).toEqual(expect.any(String));
    const asked = await engine.call("get_next_item", { agent: "b", workerId: "b-1", includeClaimed: true });
    expect(asked.recommendations).toMatchObject([{ itemId: only, isClaimed: true }]);
    expect(JSON.stringify([forB, asked])).not.toContain("a-1");
    await engine.close();
  });
});
