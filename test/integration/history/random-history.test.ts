/**
 * Ten thousand random steps of a fleet. Whatever they were, the counters of every item are what
 * the rules derive, nothing is alive under what is closed, nothing is both free and held, and
 * every view of what is ready says the same.
 */
import { expect, it } from "vitest";
import { asking } from "../../support/asking.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine } from "../../support/engine.ts";
import { disagreements } from "./derived.ts";
import { seeded } from "../../support/seeded.ts";
import { History } from "./random-steps.ts";

const STEPS = { pg: 10_000, pglite: 2_000 } as const;
const CHECK_EVERY = 100;
const ROLES = "queue,work,review";
/** Given one, a history is played again. */
const SEED = Number(process.env["MUSTER_TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

describeEachDatabase("a random history", (database) => {
  it(`leaves nothing that the rules do not derive (MUSTER_TEST_SEED=${SEED})`, async () => {
    const engine = createTestEngine(database());
    const reads = asking(engine);
    const random = seeded(SEED);
    const history = new History(engine, database(), random);
    try {
      for (let step = 1; step <= STEPS[database().kind]; step += 1) {
        await history.step();
        if (step % CHECK_EVERY !== 0) continue;
        const where = `after step ${step} of seed ${SEED}`;
        expect({ where, found: await disagreements(database().db) }).toEqual({ where, found: [] });
        await compareViews(where);
      }
      // A history in which nearly everything is refused would find nothing.
      const never = [...history.tally].filter(([, { done }]) => done === 0).map(([name]) => name);
      expect(never).toEqual([]);
    } finally {
      await engine.close();
    }

    /** Lists, recommendations, explanations and the next claim, of what a stranger is offered. */
    async function compareViews(where: string): Promise<void> {
      const ready: string[] = [];
      for (let offset = 0, more = true; more; offset += 100) {
        const page = await reads.search({ readiness: "ready", role: ROLES, limit: 100, offset });
        ready.push(...page.items.map((one) => one.id));
        more = page.items.length === 100;
      }
      const rows = await database().db.selectFrom("items").select("id").execute();
      const explained = await Promise.all(rows.map(({ id }) => reads.explain(id)));
      const offered = explained.filter((one) => one.offered).map((one) => one.itemId);
      expect({ where, offered: ready.toSorted() }).toEqual({ where, offered: offered.toSorted() });
      const { recommendations } = await reads.next({ role: ROLES, limit: 20 });
      const strange = recommendations.filter((one) => !ready.includes(one.itemId));
      expect({ where, strange }).toEqual({ where, strange: [] });
      expect({ where, shown: recommendations.length }).toEqual({ where, shown: Math.min(20, ready.length) });
      const workerId = `stranger-${where}`.replaceAll(" ", "-");
      const result = await reads.claim("stranger", { selector: { role: ROLES } }, { workerId });
      expect({ where, first: result.itemId }).toEqual({ where, first: recommendations[0]?.itemId });
    }
  }, 600_000);
});
