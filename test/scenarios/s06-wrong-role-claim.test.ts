import { expect, it } from "vitest";
import { describeEachDatabase } from "../support/database.ts";
import { asking } from "../support/asking.ts";
import { createTestEngine } from "../support/engine.ts";
import { plantItem } from "../support/fixtures.ts";

describeEachDatabase("a worker that only reviews, while only builds are ready", (database) => {
  it("is told that its role or capability is missing, and nothing changes hands [S6]", async () => {
    const engine = createTestEngine(database());
    const { next, explain, claim, claims } = asking(engine);
    const reviewer = { capabilities: "review" };
    const build = await plantItem(database().db, { title: "build", needs: ["build"] });
    for (let turn = 0; turn < 3; turn += 1) {
      const any = await claim("r", { selector: {} }, reviewer);
      expect(any).toMatchObject({ outcome: "none_eligible", excluded: { capabilities: 1 } });
      const byRole = await claim("r", { selector: { role: "review" } }, reviewer);
      expect(byRole).toMatchObject({ outcome: "queue_empty", kind: "permanent" });
    }
    expect(await next({ agent: "r", ...reviewer })).toMatchObject({
      recommendations: [],
      excluded: { capabilities: 1 },
    });
    const explained = await explain(build, { agent: "r", ...reviewer });
    expect(explained.reasons).toMatchObject([{ code: "capabilities", message: "it needs build" }]);
    expect(await claims()).toMatchObject({ claims: [], total: 0 });
    await engine.close();
  });
});
