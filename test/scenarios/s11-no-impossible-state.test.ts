/**
 * Random lives of a small tree: three agents claim, complete, cancel, reopen, release, fail
 * and let their claims expire. After every step the answer is the one that a small model
 * expects, and the rows say one thing: never "nobody active" and "claim refused as held" together.
 */
import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeEachDatabase } from "../support/database.ts";
import { createTestEngine, type TestEngine } from "../support/engine.ts";
import { plantGraph } from "../support/fixtures.ts";
import { advance, agent, claim, release } from "../integration/claims/calls.ts";

const TTL_SECONDS = 60;
const LAPSE_MS = TTL_SECONDS * 1_500 + 1;
const AGENTS = ["ada", "ben", "cyd"].map((id) => agent(id));
/** Two leaves under a container, and a third leaf that the first one blocks. */
const LEAVES = 3;

type Step =
  | {
      readonly do: "claim" | "release" | "complete" | "cancel" | "reopen" | "fail" | "start";
      readonly who: number;
      readonly leaf: number;
    }
  | { readonly do: "expire" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "claim" as const,
        "release" as const,
        "complete" as const,
        "cancel" as const,
        "reopen" as const,
        "fail" as const,
        "start" as const,
      ),
      who: fc.nat(AGENTS.length - 1),
      leaf: fc.nat(LEAVES - 1),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: "expire" as const }) },
);

/** What the model knows: who holds each leaf, and whose claims have lapsed since. */
interface Model {
  readonly holders: (number | null)[];
  lapsed: boolean;
}

describeEachDatabase("whatever agents do in whatever order", (database) => {
  let engine: TestEngine;
  beforeAll(() => {
    engine = createTestEngine(database());
  });
  afterAll(() => engine.close());

  it("leaves no impossible state: one holder or none, fences that rise, counters that count [S11]", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const container = randomUUID();
        const ids = Array.from({ length: LEAVES }, () => randomUUID());
        await plantGraph(
          database().db,
          [
            { id: container, role: "work" },
            ...ids.map((id, index) => ({ id, parentId: index < 2 ? container : null })),
          ],
          [{ from: ids[0] as string, to: ids[2] as string }],
        );
        const model: Model = { holders: ids.map(() => null), lapsed: false };
        const fences = new Map<string, number>();
        for (const one of steps) {
          await perform(one, ids, model);
          await check([container, ...ids], ids, model, fences);
        }
        // Nothing that this run left behind may stand in the way of the next one.
        for (const [leaf, holder] of model.holders.entries()) {
          if (holder !== null)
            await release(engine, AGENTS[holder] as (typeof AGENTS)[number], { itemId: ids[leaf] as string });
        }
      }),
      { numRuns: 15 },
    );
  });

  async function perform(one: Step, ids: readonly string[], model: Model): Promise<void> {
    if (one.do === "expire") {
      await database().advance(LAPSE_MS);
      model.lapsed = true;
      return;
    }
    const who = AGENTS[one.who] as (typeof AGENTS)[number];
    const itemId = ids[one.leaf] as string;
    const holder = model.holders[one.leaf] ?? null;
    const heldByOther = holder !== null && holder !== one.who;
    if (one.do === "claim") {
      const { outcome } = await claim(engine, who, { itemId, ttlSeconds: TTL_SECONDS });
      // Refused as held exactly when somebody else holds it and is alive.
      expect(outcome === "already_claimed").toBe(heldByOther && !model.lapsed);
      if (outcome !== "success") return await learn(ids, model);
      for (const [leaf, held] of model.holders.entries()) if (held === one.who) model.holders[leaf] = null;
      model.holders[one.leaf] = one.who;
    } else if (one.do === "release") {
      const { outcome } = await release(engine, who, { itemId });
      expect(outcome === "success").toBe(holder === one.who);
      if (outcome === "success") model.holders[one.leaf] = null;
    } else {
      const reason = one.do === "fail" ? { reason: "it broke" } : {};
      const { errorCode } = await advance(engine, who, { itemId, trigger: one.do, ...reason });
      if (errorCode === "not_claim_holder") expect(heldByOther && !model.lapsed).toBe(true);
    }
    await learn(ids, model);
  }

  /** Claims may end as a consequence: by finishing, failing, displacing. None may begin. */
  async function learn(ids: readonly string[], model: Model): Promise<void> {
    const rows = await rowsOf(ids);
    for (const [leaf, id] of ids.entries()) {
      const holder = AGENTS.findIndex((who) => who.id === rows.get(id)?.agent);
      if (holder === -1) model.holders[leaf] = null;
      else expect(model.holders[leaf]).toBe(holder);
    }
    const now = await database()
      .db.selectFrom("item_state")
      .select("item_id")
      .where("item_id", "in", [...ids])
      .where("agent", "is not", null)
      .where(sql<boolean>`expires_at <= muster_now()`)
      .execute();
    model.lapsed = now.length > 0 && now.length === model.holders.filter((one) => one !== null).length;
    // A claim beside a lapsed one is alive: the model only knows all or none, so it lets the others lapse as well.
    if (now.length > 0 && !model.lapsed) {
      await database().advance(LAPSE_MS);
      model.lapsed = true;
    }
  }

  async function rowsOf(ids: readonly string[]) {
    const rows = await database()
      .db.selectFrom("item_state")
      .selectAll()
      .where("item_id", "in", [...ids])
      .execute();
    return new Map(rows.map((row) => [row.item_id, row]));
  }

  async function check(
    all: readonly string[],
    leaves: readonly string[],
    model: Model,
    fences: Map<string, number>,
  ): Promise<void> {
    const rows = await rowsOf(all);
    const open = await database()
      .db.selectFrom("attempts")
      .selectAll()
      .where("item_id", "in", [...all])
      .where("ended_at", "is", null)
      .execute();
    for (const [id, row] of rows) {
      expect(row.fence).toBeGreaterThanOrEqual(fences.get(id) ?? 0);
      fences.set(id, row.fence);
      const tenures = open.filter((attempt) => attempt.item_id === id);
      expect(tenures.map((attempt) => [attempt.agent, attempt.fence])).toEqual(
        row.agent === null ? [] : [[row.agent, row.fence]],
      );
      if (row.role === "terminal") expect(row.agent).toBeNull();
    }
    for (const [leaf, id] of leaves.entries()) {
      const holder = model.holders[leaf] ?? null;
      expect(rows.get(id)?.agent ?? null).toBe(holder === null ? null : AGENTS[holder]?.id);
    }
    expect(await miscounted(all)).toEqual([]);
  }

  /** Items whose counters are not what a count of the rows gives. */
  async function miscounted(ids: readonly string[]): Promise<unknown[]> {
    const { rows } = await sql`
      select s.item_id, s.blockers, s.open_children, s.done_children from item_state s
      where s.item_id = any(${[...ids]}::uuid[]) and (s.blockers, s.open_children, s.done_children) <> (
        (select count(*) from dependencies d join item_state b on b.item_id = d.from_item
          where d.to_item = s.item_id and d.type = 'BLOCKS'
            and not (b.role = 'terminal' and (b.outcome = 'done' or coalesce(d.on_cancelled, 'hold') = 'release'))),
        (select count(*) from item_state c where c.parent_id = s.item_id and c.role <> 'terminal'),
        (select count(*) from item_state c where c.parent_id = s.item_id and c.outcome = 'done'))`.execute(
      database().db,
    );
    return rows;
  }
});
