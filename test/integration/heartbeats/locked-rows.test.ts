import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { renewTenures } from "../../../db/stores/renew-store.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { plantItem } from "../../support/fixtures.ts";
import { agent, granted, refresh, stateOf } from "../claims/calls.ts";

const ann = agent("ann");
const bob = agent("bob");
const DAY_MS = 86_400_000;
/** Another ttl than the claims have: such a heartbeat is written down before it is answered. */
const ttlSeconds = 120;

describe("heartbeats while a transaction of somebody else's holds the row of one of them", () => {
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

  const claimOne = async (who: typeof ann) => {
    const itemId = await plantItem(database.db);
    const { fence } = await granted(engine, who, { itemId, ttlSeconds: 60 });
    return { itemId, fence };
  };

  it("go out together and leave only that one behind", async () => {
    const [locked, free] = [await claimOne(bob), await claimOne(ann)];
    const renewals = [
      { ...locked, agent: "bob", session: bob.workerId, ttlMs: null },
      { ...free, agent: "ann", session: ann.workerId, ttlMs: null },
    ];
    const renewed = await database.db.transaction().execute(async (tx) => {
      await sql`select 1 from item_state where item_id = ${locked.itemId} for no key update`.execute(tx);
      return await renewTenures(database.db, renewals, DAY_MS);
    });
    expect([...renewed.keys()]).toEqual([free.itemId]);
    expect((await renewTenures(database.db, renewals, DAY_MS)).size).toBe(2);
  });

  it("are answered, and that one is once the row is free", async () => {
    const [locked, free] = [await claimOne(bob), await claimOne(ann)];
    const late = await database.db.transaction().execute(async (tx) => {
      await sql`select 1 from item_state where item_id = ${locked.itemId} for no key update`.execute(tx);
      const waiting = refresh(engine, bob, { ...locked, ttlSeconds });
      expect(await refresh(engine, ann, { ...free, ttlSeconds })).toMatchObject({ outcome: "success" });
      return { waiting };
    });
    expect(await late.waiting).toMatchObject({ outcome: "success", fence: locked.fence });
    expect(await stateOf(database.db, locked.itemId)).toMatchObject({ ttl_ms: ttlSeconds * 1000 });
  });

  it("of a claim that has ended are still told so", async () => {
    const one = await claimOne(ann);
    expect(await refresh(engine, bob, { ...one, ttlSeconds })).toMatchObject({ outcome: "claim_lost" });
  });
});
