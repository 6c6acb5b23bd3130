/**
 * Races that a lock decides. Most tests bring the two sides together by force: they hold the
 * rows from outside until both sides wait for them, one behind the other, and let go. Each was
 * seen to fail with its lock taken out; its comment says which one, and what happened then.
 */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import type { TestEngine } from "../../support/engine.ts";
import { type ItemFixture, plantEdge, plantGraph, plantItem } from "../../support/fixtures.ts";
import { until } from "../../support/until.ts";
import { advance, agent, claim, granted, refresh, stateOf, tenuresOf } from "./calls.ts";
import { useFleet } from "./engines.ts";

const ANN = agent("ann");
const BOB = agent("bob");
const SOME = 12;

describe("two at once", () => {
  const fleet = useFleet(2);
  const replicas = () => fleet.engines as [TestEngine, TestEngine];
  const plant = (item: ItemFixture = {}): Promise<string> => plantItem(fleet.database.db, item);
  const state = (itemId: string) => stateOf(fleet.database.db, itemId);

  /** Holds rows until every side waits for a lock, in the given order; then all of them go on at once. */
  async function together<T>(rows: readonly string[], sides: readonly (() => Promise<T>)[]): Promise<T[]> {
    const running: Promise<T>[] = [];
    await fleet.database.db.transaction().execute(async (tx) => {
      await sql`select 1 from item_state where item_id = any(${rows}::uuid[]) order by item_id for update`.execute(
        tx,
      );
      for (const side of sides) {
        running.push(side());
        await until(async () => (await waitingForLocks()) >= running.length);
      }
    });
    return await Promise.all(running);
  }

  async function waitingForLocks(): Promise<number> {
    const { rows } = await sql<{ waiting: number }>`
      select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(fleet.database.db);
    return rows[0]?.waiting ?? 0;
  }

  // Without `for no key update` in the statement that loads the world: both count from 2 to 1.
  it("blockers that finish together leave no blocker behind, and the dependent is ready", async () => {
    const [one, two] = replicas();
    for (let round = 0; round < SOME; round += 1) {
      const [first, second, dependent] = (await plantGraph(fleet.database.db, [{}, {}, {}], [])) as [
        string,
        string,
        string,
      ];
      await plantEdge(fleet.database.db, first, dependent);
      await plantEdge(fleet.database.db, second, dependent);
      const results = await together(
        [dependent],
        [
          () => advance(one, null, { itemId: first, trigger: "complete" }),
          () => advance(two, null, { itemId: second, trigger: "complete" }),
        ],
      );
      expect(results.map((one) => one.applied)).toEqual([true, true]);
      expect(await state(dependent)).toMatchObject({ blockers: 0 });
      expect(results.flatMap((one) => (one["unblockedItems"] as unknown[]) ?? [])).toHaveLength(1);
      expect(await advance(one, null, { itemId: dependent, trigger: "start" })).toMatchObject({
        applied: true,
      });
    }
  });

  // Without that lock: both count from 2 to 1 open children, and the parent stays open for ever.
  it("siblings that finish together close their parent exactly once [B31]", async () => {
    const [one, two] = replicas();
    for (let round = 0; round < SOME; round += 1) {
      const grandparent = await plant({ role: "work" });
      const parent = await plant({ role: "work", parentId: grandparent });
      const [first, second] = (await plantGraph(
        fleet.database.db,
        [{ parentId: parent }, { parentId: parent }],
        [],
      )) as [string, string];
      await together(
        [parent],
        [
          () => advance(one, null, { itemId: first, trigger: "complete" }),
          () => advance(two, null, { itemId: second, trigger: "complete" }),
        ],
      );
      for (const id of [parent, grandparent]) {
        expect(await state(id)).toMatchObject({ role: "terminal", outcome: "done", open_children: 0 });
        const closings = await fleet.database.db
          .selectFrom("transitions")
          .selectAll()
          .where("item_id", "=", id)
          .execute();
        expect(closings.map((row) => row.trigger)).toEqual(["cascade"]);
      }
    }
  });

  // Without that lock: the lapsed holder finishes and is displaced as well, and both are told that they succeeded.
  it("a displacement and the late completion of the lapsed holder: exactly one happens [F-02]", async () => {
    const [one, two] = replicas();
    for (let round = 0; round < SOME; round += 1) {
      const itemId = await plant();
      const { fence } = await granted(one, ANN, { itemId, ttlSeconds: 60, start: true });
      await fleet.database.advance(90_001);
      type Side = { readonly outcome?: string; readonly applied?: boolean };
      const finish = (): Promise<Side> => advance(one, ANN, { itemId, trigger: "complete", fence });
      const displace = (): Promise<Side> => claim(two, BOB, { itemId });
      const finishFirst = round % 2 === 0;
      const sides = finishFirst ? [finish, displace] : [displace, finish];
      const [first, second] = await together<Side>([itemId], sides);
      const [late, taken] = finishFirst ? [first, second] : [second, first];
      expect(late?.applied).toBe(finishFirst);
      const tenures = await tenuresOf(fleet.database.db, itemId);
      // Exactly one of the two happened: the lapsed holder finished, or it was displaced.
      if (late?.applied === true) {
        expect(taken).toMatchObject({ outcome: "terminal_item" });
        expect(tenures).toEqual(["ann-1: completed"]);
      } else {
        expect(late).toMatchObject({ errorCode: "claim_lost" });
        expect(taken).toMatchObject({ outcome: "success" });
        expect(tenures).toEqual(["ann-1: expired", "bob-1: open"]);
        expect(await state(itemId)).toMatchObject({ agent: "bob", role: "queue" });
        await advance(two, BOB, { itemId, trigger: "cancel" });
      }
    }
  });

  // Without judging the lapse again under the lock: the sweep frees what was renewed a moment before.
  it("a holder that renews while a sweep is on its way keeps the claim", async () => {
    const [one, two] = replicas();
    for (let round = 0; round < SOME; round += 1) {
      const itemId = await plant();
      const { fence } = await granted(one, ANN, { itemId, ttlSeconds: 60, start: true });
      await fleet.database.advance(120_000);
      let beat: Promise<{ readonly outcome: string }> | undefined;
      let sweep: Promise<unknown> | undefined;
      await fleet.database.db.transaction().execute(async (tx) => {
        await sql`select 1 from item_state where item_id = ${itemId}::uuid for update`.execute(tx);
        // The renewal waits in front of the sweep, which has seen the claim expired already.
        beat = refresh(one, ANN, { itemId, fence });
        await until(async () => (await waitingForLocks()) >= 1);
        sweep = two.engine.sweep(new AbortController().signal);
        await until(async () => (await waitingForLocks()) >= 2);
      });
      const [renewed] = await Promise.all([beat, sweep]);
      expect(renewed).toMatchObject({ outcome: "success" });
      expect(await state(itemId)).toMatchObject({ agent: "ann", fence, role: "work", attempts: 0 });
      await advance(one, ANN, { itemId, trigger: "complete" });
    }
  });

  // Without the check of what is left when a count is stored: both count, nobody closes, and the parent stays open.
  it("children of a large parent that finish together close it exactly once, though nobody locks it before", async () => {
    const [one, two] = replicas();
    const CHILDREN = 40;
    for (let round = 0; round < 4; round += 1) {
      const parent = await plant({ role: "work" });
      const children: string[] = [];
      for (let n = 0; n < CHILDREN; n += 1) children.push(await plant({ parentId: parent, role: "work" }));
      const results = await Promise.all(
        children.map((itemId, n) => advance(n % 2 === 0 ? one : two, null, { itemId, trigger: "complete" })),
      );
      expect(results.filter(({ applied }) => applied)).toHaveLength(CHILDREN);
      expect(await state(parent)).toMatchObject({
        role: "terminal",
        outcome: "done",
        open_children: 0,
        done_children: CHILDREN,
      });
      const closings = await fleet.database.db
        .selectFrom("transitions")
        .select("id")
        .where("item_id", "=", parent)
        .execute();
      expect(closings).toHaveLength(1);
    }
  });

  // Counted without its own row in sight: the guard alone stands between this and a parent left open.
  it("a parent whose children vanish between the look and the count is locked after all", async () => {
    const [one] = replicas();
    const parent = await plant({ role: "work" });
    const last = await plant({ parentId: parent, role: "work" });
    const others: string[] = [];
    for (let n = 0; n < 20; n += 1) others.push(await plant({ parentId: parent, role: "work" }));
    let completing: ReturnType<typeof advance> | undefined;
    await fleet.database.db.transaction().execute(async (tx) => {
      // Its completion sees twenty-one open children, and then waits to count while they close.
      await sql`select 1 from item_state where item_id = ${parent}::uuid for update`.execute(tx);
      completing = advance(one, null, { itemId: last, trigger: "complete" });
      await until(async () => (await waitingForLocks()) >= 1);
      await sql`update item_state set role = 'terminal', outcome = 'done' where item_id = any(${others}::uuid[])`.execute(
        tx,
      );
      await sql`update item_state set open_children = 1, done_children = 20 where item_id = ${parent}::uuid`.execute(
        tx,
      );
    });
    expect(await completing).toMatchObject({
      applied: true,
      cascadeEvents: [{ itemId: parent, applied: true }],
    });
    expect(await state(parent)).toMatchObject({ role: "terminal", open_children: 0, done_children: 21 });
  });

  // Without the advisory lock on the holder: neither claim sees the other, and one holder has two items.
  it("two claims of one holder end with one item held [B38]", async () => {
    const [one, two] = replicas();
    for (let round = 0; round < SOME; round += 1) {
      const who = agent(`greedy-${round}`);
      const ids = (await plantGraph(fleet.database.db, [{}, {}], [])) as [string, string];
      const results = await together(ids, [
        () => claim(one, who, { itemId: ids[0] }),
        () => claim(two, who, { itemId: ids[1] }),
      ]);
      expect(results.map((result) => result.outcome)).toEqual(["success", "success"]);
      const held = await fleet.database.db
        .selectFrom("item_state")
        .select("item_id")
        .where("agent", "=", who.id)
        .execute();
      expect(held).toHaveLength(1);
      const open = await fleet.database.db
        .selectFrom("attempts")
        .selectAll()
        .where("agent", "=", who.id)
        .where("ended_at", "is", null)
        .execute();
      expect(open.map((row) => row.item_id)).toEqual(held.map((row) => row.item_id));
    }
  });

  // Without the lock of the selection: it waits for the cancel and hands its caller a closed item.
  it("a selector neither waits for nor gives away an item that is being cancelled", async () => {
    const [one, two] = replicas();
    for (let round = 0; round < SOME; round += 1) {
      const root = await plant({ role: "work" });
      await plant({ parentId: root, role: "blocked" });
      const itemId = await plant({ parentId: root });
      let settled = false;
      const [cancelling, choosing] = await fleet.database.db.transaction().execute(async (tx) => {
        await sql`select 1 from item_state where item_id = ${itemId}::uuid for update`.execute(tx);
        const cancel = advance(one, null, { itemId, trigger: "cancel" });
        await until(async () => (await waitingForLocks()) >= 1);
        const choice = claim(two, BOB, { selector: { ancestorId: root, role: "queue" } }).finally(() => {
          settled = true;
        });
        // The row stays locked until the claim has answered: one that waits ends in a lock time-out instead.
        await until(() => settled);
        return [{ cancel }, { choice }] as const;
      });
      expect(await cancelling.cancel).toMatchObject({ applied: true });
      expect(await choosing.choice).toMatchObject({ outcome: "none_eligible", excluded: { busy: 1 } });
      expect(await state(itemId)).toMatchObject({ role: "terminal", agent: null });
    }
  });

  it("a selector and a cancel of the same item: one of them has it, never both", async () => {
    const [one, two] = replicas();
    for (let round = 0; round < SOME; round += 1) {
      const root = await plant({ role: "work" });
      await plant({ parentId: root, role: "blocked" });
      const itemId = await plant({ parentId: root });
      const [cancelled, taken] = await Promise.all([
        advance(one, null, { itemId, trigger: "cancel" }),
        claim(two, BOB, { selector: { ancestorId: root, role: "queue" } }),
      ]);
      const after = await state(itemId);
      if (cancelled.applied) {
        expect(taken).toMatchObject({ outcome: "queue_empty" });
        expect(after).toMatchObject({ role: "terminal", agent: null });
      } else {
        expect(cancelled).toMatchObject({ errorCode: "not_claim_holder" });
        expect(taken).toMatchObject({ outcome: "success", itemId });
        expect(after).toMatchObject({ role: "queue", agent: "bob" });
      }
    }
  });

  // Without the look without locks before an empty answer: the queue seems to have nothing to offer.
  it("an item that an unrelated write has locked for a moment is no empty queue", async () => {
    const [one] = replicas();
    const root = await plant({ role: "work" });
    const itemId = await plant({ parentId: root });
    let searching: Promise<{ readonly outcome: string }> | undefined;
    await fleet.database.db.transaction().execute(async (tx) => {
      await sql`select 1 from item_state where item_id = ${itemId}::uuid for update`.execute(tx);
      searching = claim(one, BOB, { selector: { ancestorId: root, role: "queue" } });
      const busy = await searching;
      expect(busy).toMatchObject({ outcome: "none_eligible", kind: "transient", excluded: { busy: 1 } });
    });
    searching = claim(one, BOB, { selector: { ancestorId: root, role: "queue" } });
    expect(await searching).toMatchObject({ outcome: "success", itemId });
  });

  it("a waiter that only a lock keeps from an item gets it soon after the lock is gone", async () => {
    const [one] = replicas();
    const root = await plant({ role: "work" });
    const itemId = await plant({ parentId: root });
    const waiting = await fleet.database.db.transaction().execute(async (tx) => {
      await sql`select 1 from item_state where item_id = ${itemId}::uuid for update`.execute(tx);
      const call = claim(
        one,
        agent("patient"),
        { selector: { ancestorId: root, role: "queue" } },
        { waitSeconds: 20 },
      );
      await claim(one, agent("hasty"), {
        selector: { ancestorId: root, role: "queue" },
        claimRef: randomUUID(),
      });
      return { call };
    });
    const started = performance.now();
    expect(await waiting.call).toMatchObject({ outcome: "success", itemId });
    expect(performance.now() - started).toBeLessThan(2_500);
  });
});
