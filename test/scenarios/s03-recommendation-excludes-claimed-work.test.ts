import { expect, it } from "vitest";
import { describeEachDatabase } from "../support/database.ts";
import { asking } from "../support/asking.ts";
import { createTestEngine } from "../support/engine.ts";
import { plantItem } from "../support/fixtures.ts";

describeEachDatabase("recommendations", (database) => {
  it("never offer another's claimed item, and say so when nothing else is ready [S3]", async () => {
    const engine = createTestEngine(database());
    const { next, claim } = asking(engine);
    const only = await plantItem(database().db, { title: "only one" });
    const forA = await next({ agent: "a" });
    expect(forA).toMatchObject({ recommendations: [{ itemId: only }], total: 1 });
    expect(await claim("a", { itemId: only })).toMatchObject({ outcome: "success" });
    const forB = await next({ agent: "b" });
    expect(forB).toMatchObject({ recommendations: [], total: 0, excluded: { claimed: 1 } });
    expect(forB.nextAt).toEqual(expect.any(String));
    const asked = await next({ agent: "b", includeClaimed: true });
    expect(asked.recommendations).toMatchObject([{ itemId: only, isClaimed: true }]);
    expect(JSON.stringify([forB, asked])).not.toContain("a-session");
    await engine.close();
  });
});
