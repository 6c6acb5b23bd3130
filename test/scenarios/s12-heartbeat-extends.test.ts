/** A claim of 15 minutes with a heartbeat every 30 seconds, for 40 minutes, while a sweep runs. */
import { sql } from "kysely";
import { expect, it } from "vitest";
import { plantItem } from "../support/fixtures.ts";
import { agent, granted, refresh, release, stateOf, tenuresOf } from "../integration/claims/calls.ts";
import { describeEachWay } from "../integration/claims/engines.ts";

const BEAT_MS = 30_000;
const HALF_TTL_MS = 450_000;
const WORK_MS = 2_400_000;

describeEachWay("a heartbeat", (bench) => {
  it("keeps the claim for as long as it beats, says the new expiry each time, and seldom writes to the database [S12]", async () => {
    const { database, engine } = bench();
    const worker = agent("steady");
    const itemId = await plantItem(database.db);
    const { fence, claimExpiresAt } = await granted(engine, worker, { itemId, ttlSeconds: 900, start: true });
    const versionOfRow = async (): Promise<string> => {
      const { rows } = await sql<{
        xmin: string;
      }>`select xmin::text from item_state where item_id = ${itemId}::uuid`.execute(database.db);
      return rows[0]?.xmin ?? "";
    };
    const written = new Set([await versionOfRow()]);
    let expiry = Date.parse(claimExpiresAt);
    for (let passed = BEAT_MS; passed <= WORK_MS; passed += BEAT_MS) {
      await database.advance(BEAT_MS);
      const swept = await engine.engine.sweep(new AbortController().signal);
      expect(swept.freed).toBe(0);
      const beat = await refresh(engine, worker, { itemId, fence });
      expect(beat).toMatchObject({ outcome: "success", fence });
      const next = Date.parse(beat.claimExpiresAt ?? "");
      expect(next).toBeGreaterThanOrEqual(expiry + BEAT_MS - 1_000);
      expiry = next;
      written.add(await versionOfRow());
    }
    // The claim itself, and at most one renewal per half a ttl.
    expect(written.size - 1).toBeLessThanOrEqual(Math.ceil(WORK_MS / HALF_TTL_MS));
    expect(written.size - 1).toBeGreaterThan(0);
    expect(await stateOf(database.db, itemId)).toMatchObject({
      agent: "steady",
      fence,
      role: "work",
      attempts: 0,
    });
    expect(await tenuresOf(database.db, itemId)).toEqual(["steady-1: open"]);
    await release(engine, worker, { itemId });
  });
});
