import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { plantItem } from "../../support/fixtures.ts";
import { until } from "../../support/until.ts";
import { agent, granted } from "../claims/calls.ts";

const ann = agent("ann");

describe("a claim that its own holder claims again", () => {
  let database: TestDatabase;
  let engine: TestEngine;
  beforeAll(async () => {
    database = await createTestDatabase({ kind: "pg" });
    engine = createTestEngine(database);
  });
  afterAll(async () => {
    await engine.close();
    await database.close();
  });

  it("is told to the clock as of the instant that the database counts from, however long the row was waited for", async () => {
    const itemId = await plantItem(database.db);
    await granted(engine, ann, { itemId, ttlSeconds: 60 });
    const touch = vi.spyOn(engine.coordination.claimClock, "touch");
    const { again } = await database.db.transaction().execute(async (tx) => {
      await sql`select 1 from item_state where item_id = ${itemId} for no key update`.execute(tx);
      const pending = granted(engine, ann, { itemId, ttlSeconds: 90 });
      await until(async () => {
        const { rows } = await sql`
          select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
            and clock_timestamp() - xact_start > interval '20 milliseconds'`.execute(database.db);
        return rows.length > 0;
      });
      return { again: pending };
    });
    const { claimedAt, claimExpiresAt, fence } = await again;
    expect(Date.parse(claimExpiresAt) - Date.parse(claimedAt)).toBe(90_000);
    expect(touch.mock.calls).toEqual([[[{ key: itemId, fence, ttlMs: 90_000 }], Date.parse(claimedAt)]]);
  });
});
