/**
 * Resources that several engines want at once, each with its own pool and its own connections
 * to one Redis, as so many API processes would have them. Take the lock on the rows of the keys
 * out of `muster_open_leases`, and starters run into the index that an exclusive lease is alone:
 * they are told of a fault of the database instead of a resource that is taken.
 */
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import type { TestEngine } from "../../support/engine.ts";
import { useFleet } from "../claims/engines.ts";
import { claim, having, history, keep, make, move, resourceTraits } from "./yard.ts";

const ENGINES = 4;
const STARTERS = 64;
const TTL_MS = 60_000;

describe("several engines and one resource", () => {
  const fleet = useFleet(ENGINES, { schemas: resourceTraits });

  const yard = (index: number): { engine: TestEngine } => {
    const engine = fleet.engines[index % ENGINES];
    if (engine === undefined) throw new Error("there is no such engine");
    return { engine };
  };
  const agent = (name: string, index: number) => ({ id: `${name}-${index}`, workerId: `${name}-${index}` });

  it("64 start at once what needs one resource: one at a time has it, in the leases and in the history [B60]", async () => {
    const items = await Promise.all(
      Array.from({ length: STARTERS }, (_, index) => make(yard(index), "only")),
    );
    const left = new Set(items);
    for (let round = 0; round < 4; round += 1) {
      const results = await Promise.all(
        [...left].map((itemId, index) => move(yard(index), agent("starter", index), itemId, "start")),
      );
      const started = results.filter((result) => result.applied);
      expect(started).toHaveLength(1);
      const refusals = results.filter((result) => !result.applied).map((result) => result.errorCode);
      expect(new Set(refusals)).toEqual(new Set(["resource_unavailable"]));
      const itemId = started[0]?.itemId ?? "";
      expect(await having(yard(round), "only")).toEqual([itemId]);
      expect(await move(yard(round + 1), agent("starter", 0), itemId, "complete")).toMatchObject({
        applied: true,
      });
      left.delete(itemId);
    }
    const intervals = await history(yard(0), "only");
    expect(intervals).toHaveLength(4);
    for (const [index, interval] of intervals.slice(1).entries()) {
      expect(Date.parse(interval.acquiredAt)).toBeGreaterThanOrEqual(
        Date.parse(intervals[index]?.releasedAt ?? ""),
      );
    }
  });

  it("who declare the same two in opposite order never deadlock, and each gets its turn [B61]", async () => {
    const before = await deadlocks();
    const items = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        make(yard(index), index % 2 === 0 ? "left,right" : "right,left"),
      ),
    );
    const work = async (itemId: string, index: number): Promise<void> => {
      for (;;) {
        const result = await move(yard(index), agent("pair", index), itemId, "start");
        if (result.applied) break;
        expect(result).toMatchObject({ errorCode: "resource_unavailable" });
      }
      expect(await move(yard(index + 1), agent("pair", index), itemId, "complete")).toMatchObject({
        applied: true,
      });
    };
    await Promise.all(items.map(work));
    expect(await history(yard(0), "left")).toHaveLength(items.length);
    expect(await history(yard(0), "right")).toHaveLength(items.length);
    expect(await having(yard(0), "left")).toEqual([]);
    expect(await deadlocks()).toBe(before);
  });

  it("who stand in line are served in the order of the line, whoever asks first when it is free", async () => {
    const first = await make(yard(0), "line");
    await move(yard(0), agent("first", 0), first, "start");
    const items: string[] = [];
    for (let index = 0; index < 6; index += 1) {
      const itemId = await make(yard(index), "line");
      await claim(yard(index), agent("waiter", index), { itemId });
      expect(await move(yard(index), agent("waiter", index), itemId, "start")).toMatchObject({
        position: index + 1,
      });
      items.push(itemId);
    }
    const served: string[] = [];
    let last = first;
    let holder = agent("first", 0);
    while (served.length < items.length) {
      await move(yard(served.length), holder, last, "complete");
      const waiting = items.filter((itemId) => !served.includes(itemId)).toReversed();
      const results = await Promise.all(
        waiting.map((itemId) => {
          const index = items.indexOf(itemId);
          return move(yard(index + served.length), agent("waiter", index), itemId, "start");
        }),
      );
      const winners = waiting.filter((_, index) => results[index]?.applied);
      expect(winners).toEqual([items[served.length]]);
      last = winners[0] ?? "";
      holder = agent("waiter", served.length);
      served.push(last);
    }
  });

  it("a Redis that was wiped while leases are held delays a takeover by half a ttl and loses none [F-25]", async () => {
    const [held, wanted] = [await make(yard(0), "wiped"), await make(yard(1), "wiped")];
    const ann = agent("ann", 0);
    const { fence } = await claim(yard(0), ann, { itemId: held, start: true, ttlSeconds: TTL_MS / 1000 });
    for (let loss = 0; loss < 3; loss += 1) {
      await fleet.redis.wipe();
      await fleet.database.advance(TTL_MS / 3);
      expect(await move(yard(1), null, wanted, "start")).toMatchObject({ errorCode: "resource_unavailable" });
      expect(await keep(yard(2), ann, { refreshes: [{ itemId: held, fence }] })).toMatchObject({
        outcome: "success",
      });
    }
    await fleet.redis.wipe();
    await fleet.database.advance(TTL_MS + 1);
    expect(await move(yard(1), null, wanted, "start")).toMatchObject({ errorCode: "resource_unavailable" });
    expect(await having(yard(3), "wiped")).toEqual([held]);
    await fleet.database.advance(TTL_MS / 2);
    expect(await move(yard(1), null, wanted, "start")).toMatchObject({ applied: true });
    expect(await history(yard(2), "wiped")).toMatchObject([
      { holderItemId: held, releaseReason: "expired" },
      { holderItemId: wanted },
    ]);
  });

  async function deadlocks(): Promise<number> {
    const { rows } = await sql<{ deadlocks: number }>`select deadlocks::int from pg_stat_database
      where datname = current_database()`.execute(fleet.database.db);
    return rows[0]?.deadlocks ?? Number.NaN;
  }
});
