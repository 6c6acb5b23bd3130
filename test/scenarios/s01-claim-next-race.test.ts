/** One ready item and many workers at the same instant: 200 rounds in all. */
import { describe, expect, it } from "vitest";
import type { TestEngine } from "../support/engine.ts";
import { plantItem } from "../support/fixtures.ts";
import { advance, agent, claim, eventsOf, stateOf } from "../integration/claims/calls.ts";
import { useFleet } from "../integration/claims/engines.ts";

describe("workers that race for the next item", () => {
  const fleet = useFleet(2);

  it.each([
    { workers: 2, rounds: 100 },
    { workers: 8, rounds: 80 },
    { workers: 50, rounds: 20 },
  ])(
    "$workers of them, $rounds times: one holder, one claim event, and an explicit empty answer for the others [S1]",
    async ({ workers, rounds }) => {
      for (let round = 0; round < rounds; round += 1) {
        const itemId = await plantItem(fleet.database.db);
        const results = await Promise.all(
          Array.from({ length: workers }, (_, index) => {
            const engine = fleet.engines[index % fleet.engines.length] as TestEngine;
            return claim(engine, agent(`racer-${workers}-${round}-${index}`), { selector: {} });
          }),
        );
        const winners = results.filter((one) => one.outcome === "success");
        expect(winners.map((one) => one.itemId)).toEqual([itemId]);
        const others = results.filter((one) => one.outcome !== "success");
        expect(
          new Set(others.map((one) => one.outcome)).isSubsetOf(new Set(["none_eligible", "queue_empty"])),
        ).toBe(true);
        expect(await eventsOf(fleet.database.db, itemId)).toEqual(["claim.granted"]);
        const { agent: id, session } = await stateOf(fleet.database.db, itemId);
        const [engine] = fleet.engines as [TestEngine];
        await advance(engine, { id: id ?? "", workerId: session ?? "" }, { itemId, trigger: "complete" });
      }
    },
  );
});
