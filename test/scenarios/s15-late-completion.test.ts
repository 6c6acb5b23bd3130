/** "Done" arrives late: the claim has lapsed and another process of the same name has the item. */
import { expect, it } from "vitest";
import { plantItem } from "../support/fixtures.ts";
import {
  advance,
  agent,
  eventsOf,
  granted,
  refresh,
  release,
  stateOf,
  tenuresOf,
} from "../integration/claims/calls.ts";
import { describeEachWay } from "../integration/claims/engines.ts";

const OLD = agent("same-name", "process-1");
const NEW = agent("same-name", "process-2");

describeEachWay("a completion from a holder of before", (bench) => {
  it.each(["with its fence", "without it"] as const)(
    "%s is refused, and nothing of the new holder's is touched [S15] [F-02]",
    async (how) => {
      const { database, engine } = bench();
      const itemId = await plantItem(database.db);
      const old = await granted(engine, OLD, { itemId, ttlSeconds: 60, start: true });
      await database.advance(90_001);
      const current = await granted(engine, NEW, { itemId, ttlSeconds: 60, start: true });
      const before = await stateOf(database.db, itemId);
      const told = await eventsOf(database.db, itemId);
      const late = await advance(engine, OLD, {
        itemId,
        trigger: "complete",
        ...(how === "with its fence" ? { fence: old.fence } : {}),
      });
      expect(late).toMatchObject({ applied: false, errorCode: "claim_lost", errorKind: "permanent" });
      expect(await refresh(engine, OLD, { itemId, fence: old.fence })).toMatchObject({
        outcome: "claim_lost",
      });
      expect(await release(engine, OLD, { itemId, fence: old.fence })).toMatchObject({
        outcome: "claim_lost",
      });
      expect(await stateOf(database.db, itemId)).toEqual(before);
      expect(await eventsOf(database.db, itemId)).toEqual(told);
      expect(told).toContain("claim.expired");
      expect(await advance(engine, NEW, { itemId, trigger: "complete", fence: current.fence })).toMatchObject(
        { applied: true },
      );
      expect(await tenuresOf(database.db, itemId)).toEqual(["process-1: expired", "process-2: completed"]);
    },
  );
});
