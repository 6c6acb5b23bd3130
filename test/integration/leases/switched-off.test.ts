/** `RESOURCE_LEASES_ENFORCED=false`: nothing is taken and nothing is held against anybody. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { ann, bob, claim, having, history, make, move, resourceTraits } from "./yard.ts";

describeEachDatabase("resources that are not enforced", (database) => {
  let on: { engine: TestEngine };
  let off: { engine: TestEngine };
  beforeAll(() => {
    on = { engine: createTestEngine(database(), { schemas: resourceTraits }) };
    off = {
      engine: createTestEngine(database(), { schemas: resourceTraits, settings: { resourceLeases: false } }),
    };
  });
  afterAll(async () => {
    await on.engine.close();
    await off.engine.close();
  });

  it("two items that need one are both started, by id and by selector, and nothing is taken", async () => {
    const root = await make(off, "");
    const [first, second] = [await make(off, "free", root), await make(off, "free", root)];
    expect(await claim(off, ann, { itemId: first, start: true })).toMatchObject({ started: true });
    expect(await claim(off, bob, { selector: { ancestorId: root }, start: true })).toMatchObject({
      itemId: second,
      started: true,
    });
    expect(await history(off, "free")).toEqual([]);
  });

  it("what was taken before is still let go of", async () => {
    const item = await make(on, "taken");
    await move(on, null, item, "start");
    expect(await having(off, "taken")).toEqual([item]);
    await move(off, null, item, "complete");
    expect(await having(off, "taken")).toEqual([]);
    expect(await history(off, "taken")).toMatchObject([{ releaseReason: "released" }]);
  });
});
