/** An item that fails the same way every time, and automation that brings it back, over twelve simulated hours. */
import { sql } from "kysely";
import { expect, it } from "vitest";
import { plantItem } from "../support/fixtures.ts";
import { describeDesk } from "../integration/operating/desk.ts";

const STEP_MS = 15 * 60_000;
const STEPS = 48;
const MAX_ATTEMPTS = 5;

describeDesk("a poison item", (desk) => {
  it("runs no more than its limit, with growing waits, and is dead; no reopening by automation washes that off [S37]", async () => {
    const itemId = await plantItem(desk().database.db, { title: "poison" });
    let runs = 0;
    const waits: number[] = [];
    for (let step = 0; step < STEPS; step += 1) {
      const claimed = await desk().claim("ada", { selector: {}, start: true });
      if (claimed.outcome === "success") {
        runs += 1;
        const failed = await desk().advance({ itemId, trigger: "fail", reason: "it burns" }, "ada");
        expect(failed).toMatchObject({ applied: true });
        const { availableAt } = await desk().get(itemId);
        if (availableAt) waits.push(Date.parse(availableAt) - (await now()));
      } else {
        // Whatever automation tries: none of it is for agents.
        for (const trigger of ["resume", "reopen", "requeue"] as const)
          expect(await desk().advance({ itemId, trigger }, "bot")).toMatchObject({ applied: false });
        // Let go of and cancelled work comes back with its count.
        expect(claimed.outcome).toMatch(/none_eligible|queue_empty/);
      }
      await desk().database.advance(STEP_MS);
    }
    expect(runs).toBe(MAX_ATTEMPTS);
    expect(await desk().get(itemId)).toMatchObject({ role: "blocked", dead: true, attempts: MAX_ATTEMPTS });
    expect(await desk().ask("list_dead", {})).toMatchObject({
      total: 1,
      items: [{ itemId, attempts: MAX_ATTEMPTS }],
    });
    // Each wait is at most half chance, and the ladder grows by four.
    expect(waits).toHaveLength(MAX_ATTEMPTS - 1);
    for (const [index, wait] of waits.slice(1).entries()) expect(wait).toBeGreaterThan(waits[index] ?? 0);
  });

  it("cancelled and reopened by automation, it goes on counting where it was [S37]", async () => {
    const itemId = await plantItem(desk().database.db, { title: "poison" });
    let runs = 0;
    for (let step = 0; step < STEPS; step += 1) {
      const claimed = await desk().claim("ada", { selector: {}, start: true });
      if (claimed.outcome === "success") {
        runs += 1;
        await desk().advance({ itemId, trigger: "fail", reason: "it burns" }, "ada");
      }
      await desk().advance({ itemId, trigger: "cancel" }, "bot");
      await desk().advance({ itemId, trigger: "reopen" }, "bot");
      await desk().database.advance(STEP_MS);
    }
    expect(runs).toBe(MAX_ATTEMPTS);
    expect(await desk().advance({ itemId, trigger: "reopen" }, "bot")).toMatchObject({
      applied: false,
      errorCode: "item_dead",
    });
  });

  const now = async (): Promise<number> => {
    const { rows } = await sql<{ now: Date }>`select muster_now() as now`.execute(desk().database.db);
    return rows[0]?.now.getTime() ?? 0;
  };
});
