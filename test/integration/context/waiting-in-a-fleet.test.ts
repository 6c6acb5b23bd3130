/** An orchestrator waits at one API process while its workers report to others, with a real Redis between them. */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { AgentContext } from "../../../services/contract/contexts.ts";
import type { TestEngine } from "../../support/engine.ts";
import { plantItem } from "../../support/fixtures.ts";
import { useFleet } from "../claims/engines.ts";

const ROUNDS = 5;
/** Less than a waiter that hears nothing takes before it looks by itself, in every round. */
const PROMPT_MS = 3_000;

describe("waiting for workers in a fleet", () => {
  const fleet = useFleet(2);

  const dispatch = async (engine: TestEngine, boss: string) => {
    const itemId = await plantItem(fleet.database.db);
    const id = `worker-${randomUUID().slice(0, 8)}`;
    const who = { actor: { id, kind: "subagent", parent: boss }, workerId: `${id}-1` };
    await engine.call("claim_item", { ...who, requestId: randomUUID(), claims: [{ itemId, start: true }] });
    return {
      itemId,
      end: (): Promise<unknown> => engine.call("advance_item", { ...who, itemId, trigger: "complete" }),
    };
  };
  const ask = async (engine: TestEngine, boss: string, more: object) =>
    (await engine.call("get_context", { mode: "agent", agent: boss, ...more })) as AgentContext;

  it("an end at one process wakes who waits at another, and is told once", async () => {
    const [here, there] = fleet.engines as [TestEngine, TestEngine];
    const boss = `boss-${randomUUID().slice(0, 8)}`;
    const workers: Awaited<ReturnType<typeof dispatch>>[] = [];
    for (let round = 0; round < ROUNDS; round += 1) workers.push(await dispatch(there, boss));
    let { cursor } = await ask(here, boss, {});
    const from = performance.now();
    for (const worker of workers) {
      const waiting = ask(here, boss, { cursor, waitSeconds: 30 });
      await worker.end();
      const told = await waiting;
      expect(told.ended.map(({ itemId }) => itemId)).toEqual([worker.itemId]);
      cursor = told.cursor;
    }
    expect(performance.now() - from).toBeLessThan(ROUNDS * PROMPT_MS);
    expect((await ask(there, boss, { cursor })).ended).toEqual([]);
  });
});
