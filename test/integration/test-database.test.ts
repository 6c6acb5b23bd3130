/** The ground the other tests stand on: a database and a corner of Redis of their own, and a clock they move. */
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { createTestDatabase, describeEachDatabase } from "../support/database.ts";
import { createTestRedis } from "../support/redis.ts";

describeEachDatabase("a test database", (database) => {
  const now = async (): Promise<number> => {
    const { rows } = await sql<{ at: Date }>`select muster_now() as at`.execute(database().db);
    return rows[0]?.at.getTime() ?? Number.NaN;
  };

  it("has the tables, and nothing in them", async () => {
    const { rows } = await sql<{ count: number }>`select count(*)::int as count from items`.execute(
      database().db,
    );
    expect(rows).toEqual([{ count: 0 }]);
  });

  it("has a clock that a test moves instead of sleeping", async () => {
    const before = await now();
    await database().advance(3_600_000);
    const moved = (await now()) - before;
    expect(moved).toBeGreaterThanOrEqual(3_600_000);
    expect(moved).toBeLessThan(3_660_000);
  });
});

describe("two test databases", () => {
  it("share nothing, not even the clock", async () => {
    await using one = await createTestDatabase({ kind: "pg" });
    await using other = await createTestDatabase({ kind: "pg" });
    await one.advance(86_400_000);
    const shift = sql<{ shift_ms: number }>`select shift_ms from muster_clock`;
    expect((await shift.execute(one.db)).rows).toEqual([{ shift_ms: 86_400_000 }]);
    expect((await shift.execute(other.db)).rows).toEqual([{ shift_ms: 0 }]);
  });

  it("a second pool on the same database sees the same rows and the same clock", async () => {
    await using one = await createTestDatabase({ kind: "pg" });
    const replica = await one.openAnother();
    await one.advance(5_000);
    const { rows } = await sql<{ shift_ms: number }>`select shift_ms from muster_clock`.execute(replica.db);
    expect(rows).toEqual([{ shift_ms: 5_000 }]);
  });
});

describe("a corner of the run's Redis", () => {
  it("is emptied without touching its neighbours", async () => {
    await using one = createTestRedis();
    await using other = createTestRedis();
    await one.connect().set(`${one.prefix}a`, "1");
    await other.connect().set(`${other.prefix}b`, "1");
    expect(await one.keys()).toEqual(["a"]);
    await one.wipe();
    expect(await one.keys()).toEqual([]);
    expect(await other.keys()).toEqual(["b"]);
  });
});
