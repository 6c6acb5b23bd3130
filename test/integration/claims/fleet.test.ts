/** A whole fleet at once: four API processes, each with its own pool, and one Redis between them. */
import { describe, expect, it } from "vitest";
import type { TestEngine } from "../../support/engine.ts";
import { agent, claim, create } from "./calls.ts";
import { useFleet } from "./engines.ts";

const AGENTS = 64;
const ROUNDS = 50;

describe("a fleet of four replicas", () => {
  const fleet = useFleet(4);

  /** A container with an item for every agent, made like an orchestrator makes it. */
  async function plantRoom(): Promise<string> {
    const [engine] = fleet.engines as [TestEngine];
    const [parentId] = (await create(engine, ["room"])) as [string];
    const titles = Array.from({ length: AGENTS }, (_, index) => `item ${index}`);
    await create(engine, titles, { parentId });
    return parentId;
  }

  it("gives 64 items to 64 agents who ask at once, round after round: as many holders, and nobody is refused [F-01] [B45]", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const root = await plantRoom();
      const results = await Promise.all(
        Array.from({ length: AGENTS }, (_, index) => {
          const engine = fleet.engines[index % fleet.engines.length] as TestEngine;
          // What an agent held in the round before is released by its next claim.
          return claim(engine, agent(`agent-${index}`), { selector: { parentId: root } });
        }),
      );
      expect(results.filter((one) => one.outcome !== "success")).toEqual([]);
      const held = await fleet.database.db
        .selectFrom("item_state")
        .select(["item_id", "agent"])
        .where("parent_id", "=", root)
        .where("agent", "is not", null)
        .execute();
      expect(new Set(held.map((row) => row.agent)).size).toBe(AGENTS);
      expect(new Set(results.map((one) => one.itemId))).toEqual(new Set(held.map((row) => row.item_id)));
    }
  });
});
