/** Redis loses its memory while items are held: it may delay a takeover, and do nothing worse. */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { TestEngine } from "../../support/engine.ts";
import { plantGraph, plantItem } from "../../support/fixtures.ts";
import { advance, agent, granted, refresh, refused, release, stateOf, tenuresOf } from "./calls.ts";
import { useFleet } from "./engines.ts";

const ANN = agent("ann");
const BOB = agent("bob");
const TTL_MS = 60_000;

describe("a Redis that was wiped in mid-claim", () => {
  const fleet = useFleet(2);
  const replicas = () => fleet.engines as [TestEngine, TestEngine];
  const sweep = (engine: TestEngine) => engine.engine.sweep(new AbortController().signal);

  it("leaves every claim with its holder, who goes on beating and finishes [F-25]", async () => {
    const [one, two] = replicas();
    const ids = await plantGraph(
      fleet.database.db,
      Array.from({ length: 8 }, () => ({})),
      [],
    );
    const crew = ids.map((_, index) => agent(`crew-${index}`));
    const claims = await Promise.all(
      ids.map((itemId, index) =>
        granted(one, crew[index] as typeof ANN, { itemId, ttlSeconds: 60, start: true }),
      ),
    );
    for (let loss = 0; loss < 3; loss += 1) {
      await fleet.redis.wipe();
      await fleet.database.advance(TTL_MS / 3);
      for (const [index, held] of claims.entries()) {
        const { itemId, fence } = held;
        expect(await refused(two, BOB, { itemId })).toMatchObject({ outcome: "already_claimed" });
        expect(await refresh(two, crew[index] as typeof ANN, { itemId, fence })).toMatchObject({
          outcome: "success",
          fence,
        });
      }
      expect(await sweep(two)).toMatchObject({ freed: 0 });
    }
    for (const [index, { itemId, fence }] of claims.entries()) {
      const done = await advance(two, crew[index] as typeof ANN, { itemId, trigger: "complete", fence });
      expect(done).toMatchObject({ applied: true });
      expect(await tenuresOf(fleet.database.db, itemId)).toEqual([`crew-${index}-1: completed`]);
    }
  });

  it("lets nobody take a silent holder's item before expiry + ttl/2, by id, by selector or by sweep, and then anybody [F-25]", async () => {
    const [one, two] = replicas();
    const root = await plantItem(fleet.database.db, { role: "work" });
    const itemId = await plantItem(fleet.database.db, { parentId: root });
    const { fence } = await granted(one, ANN, { itemId, ttlSeconds: 60 });
    await fleet.redis.wipe();
    const tried = async (): Promise<void> => {
      expect(await refused(two, BOB, { itemId })).toMatchObject({ outcome: "already_claimed" });
      expect((await refused(two, BOB, { selector: { ancestorId: root } })).outcome).toBe("none_eligible");
      await sweep(one);
      expect(await advance(two, BOB, { itemId, trigger: "start" })).toMatchObject({
        errorCode: "not_claim_holder",
      });
      expect(await stateOf(fleet.database.db, itemId)).toMatchObject({ agent: "ann", fence });
    };
    await fleet.database.advance(TTL_MS + 1);
    await tried();
    await fleet.database.advance(TTL_MS / 2 - 10_000);
    await tried();
    await fleet.database.advance(10_000);
    expect(await granted(two, BOB, { itemId })).toMatchObject({ itemId });
    expect(await tenuresOf(fleet.database.db, itemId)).toEqual(["ann-1: expired", "bob-1: open"]);
    await release(two, BOB, { itemId });
  });

  it("tells a refused caller a wait that ends when the takeover is possible [F-25]", async () => {
    const [one, two] = replicas();
    const itemId = await plantItem(fleet.database.db);
    await granted(one, ANN, { itemId, ttlSeconds: 60 });
    await fleet.redis.wipe();
    await fleet.database.advance(TTL_MS + 1);
    const { retryAfterMs } = await refused(two, BOB, { itemId });
    expect(retryAfterMs).toBeGreaterThan(15_000);
    await fleet.database.advance(retryAfterMs ?? 0);
    expect(await granted(two, BOB, { itemId })).toMatchObject({ itemId });
    await release(two, BOB, { itemId });
  });

  it("replays a claim from the fleet.database [F-25]", async () => {
    const [one, two] = replicas();
    const itemId = await plantItem(fleet.database.db);
    const requestId = randomUUID();
    const first = await granted(one, ANN, { itemId }, { requestId });
    await fleet.redis.wipe();
    expect(await granted(two, ANN, { itemId }, { requestId })).toMatchObject({
      replayed: true,
      fence: first.fence,
      fenceCurrent: true,
    });
    await release(two, ANN, { itemId });
  });
});
