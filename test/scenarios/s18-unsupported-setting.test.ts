/** A setting that does not exist, and one beyond its range: refused in words, never ignored or clamped. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeEachDatabase } from "../support/database.ts";
import { createTestEngine, type TestEngine } from "../support/engine.ts";
import { plantItem } from "../support/fixtures.ts";
import { agent, claim, granted, refresh, release, stateOf } from "../integration/claims/calls.ts";

describeEachDatabase("a setting of a claim", (database) => {
  let engine: TestEngine;
  beforeAll(() => {
    engine = createTestEngine(database());
  });
  afterAll(() => engine.close());
  const WORKER = agent("worker");

  it.each([{ leaseTtl: 60 }, { ttl: 60 }, { ttlMinutes: 1 }])(
    "that does not exist is refused by its name: %j [S18] [P-31]",
    async (setting) => {
      const itemId = await plantItem(database().db);
      const [name] = Object.keys(setting) as [string];
      const attempt = claim(engine, WORKER, { itemId, ...setting });
      await expect(attempt).rejects.toMatchObject({
        code: "VALIDATION_ERROR",
        message: expect.stringContaining(name) as unknown,
      });
      expect(await stateOf(database().db, itemId)).toMatchObject({ agent: null });
    },
  );

  it("above the longest ttl is refused, and the range is named [S18]", async () => {
    const itemId = await plantItem(database().db);
    const attempt = claim(engine, WORKER, { itemId, ttlSeconds: 86_401 });
    await expect(attempt).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringContaining("1 to 86400") as unknown,
    });
    expect(await stateOf(database().db, itemId)).toMatchObject({ agent: null });
  });

  it("that is granted is echoed, by the claim and by the heartbeat that changes it [S18]", async () => {
    const itemId = await plantItem(database().db);
    const { fence, ttlSeconds } = await granted(engine, WORKER, { itemId, ttlSeconds: 86_400 });
    expect(ttlSeconds).toBe(86_400);
    await release(engine, WORKER, { itemId });
    const again = await granted(engine, WORKER, { itemId, ttlSeconds: 7 });
    expect(again).toMatchObject({ ttlSeconds: 7 });
    expect(again.fence).toBeGreaterThan(fence);
    const beat = await refresh(engine, WORKER, { itemId, fence: again.fence, ttlSeconds: 100 });
    expect(beat.msLeft).toBeGreaterThan(95_000);
    await release(engine, WORKER, { itemId });
  });
});
