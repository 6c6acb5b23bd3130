/** An orchestrator and those whom it dispatched: what it is told, when, and that nothing is passed over. */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { AgentContext } from "../../../services/contract/contexts.ts";
import type { Caller } from "../../../services/engine/engine.ts";
import { createLocalCoordination } from "../../../services/coordination/local/local-coordination.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { plantItem } from "../../support/fixtures.ts";

/** Far below the pace at which a waiter looks by itself. */
const PROMPT_MS = 3_000;

describeEachDatabase("the context of an agent", (database) => {
  let engine: TestEngine;
  let replica: TestEngine;
  const coordination = createLocalCoordination();
  beforeAll(() => {
    engine = createTestEngine(database(), { coordination });
    replica = createTestEngine(database(), { coordination });
  });
  afterAll(async () => {
    await engine.close();
    await replica.close();
    await coordination.close();
  });

  const ask = async (agent: string, more: object = {}, on = engine, caller: Partial<Caller> = {}) =>
    (await on.call("get_context", { mode: "agent", agent, ...more }, caller)) as AgentContext;
  const newBoss = (): string => `boss-${randomUUID().slice(0, 8)}`;

  /** A worker of the boss takes a new item into work. */
  async function dispatch(boss: string, title = "task") {
    const itemId = await plantItem(database().db, { title });
    const id = `worker-${randomUUID().slice(0, 8)}`;
    const actor = { id, kind: "subagent", parent: boss };
    const claim = { actor, workerId: `${id}-1`, requestId: randomUUID(), claims: [{ itemId, start: true }] };
    const { claims } = (await engine.call("claim_item", claim)) as { claims: { fence: number }[] };
    const move = async (trigger: string, summary?: string): Promise<void> => {
      await engine.call("advance_item", {
        actor,
        workerId: `${id}-1`,
        transitions: [{ itemId, trigger, fence: claims[0]?.fence, ...(summary ? { summary } : {}) }],
      });
    };
    return { itemId, worker: id, move };
  }

  it("tells what it holds, what it dispatched, and what of that has ended", async () => {
    const boss = newBoss();
    const own = await plantItem(database().db, { title: "own", claim: { agent: boss } });
    const running = await dispatch(boss, "running");
    const done = await dispatch(boss, "done");
    await done.move("complete", "all green");
    const context = await ask(boss);
    expect(context).toMatchObject({
      held: [{ itemId: own, title: "own" }],
      heldTotal: 1,
      dispatched: [{ itemId: running.itemId, agent: running.worker, role: "work" }],
      dispatchedTotal: 1,
      ended: [
        {
          itemId: done.itemId,
          agent: done.worker,
          endReason: "completed",
          role: "terminal",
          outcome: "done",
          summary: "all green",
        },
      ],
      hasMore: false,
    });
    // What was told once is not told again, by whichever replica.
    expect((await ask(boss, { cursor: context.cursor }, replica)).ended).toEqual([]);
    await running.move("complete");
    const next = await ask(boss, { cursor: context.cursor }, replica);
    expect(next.ended.map((one) => one.itemId)).toEqual([running.itemId]);
    expect(next.dispatched).toEqual([]);
  });

  it("tells nothing of what others dispatched", async () => {
    const other = await dispatch(newBoss());
    await other.move("complete");
    expect(await ask(newBoss())).toMatchObject({ held: [], dispatched: [], ended: [] });
  });

  it("pages through many ends without telling one twice, also those that come in between", async () => {
    const boss = newBoss();
    const told: string[] = [];
    const all: string[] = [];
    const finish = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n += 1) {
        const one = await dispatch(boss);
        await one.move("complete");
        all.push(one.itemId);
      }
    };
    await finish(5);
    let cursor: string | undefined;
    for (let pages = 0; pages < 20; pages += 1) {
      const context: AgentContext = await ask(boss, { limit: 2, ...(cursor ? { cursor } : {}) });
      told.push(...context.ended.map((one) => one.itemId));
      ({ cursor } = context);
      if (pages === 0) await finish(3);
      if (!context.hasMore) break;
    }
    expect(told.toSorted()).toEqual(all.toSorted());
  });

  it("waits for an end instead of being polled, and is woken by one", async () => {
    const boss = newBoss();
    const one = await dispatch(boss);
    const { cursor } = await ask(boss);
    const started = performance.now();
    const waiting = ask(boss, { cursor, waitSeconds: 30 }, replica);
    await one.move("complete");
    const { ended } = await waiting;
    expect(ended.map(({ itemId }) => itemId)).toEqual([one.itemId]);
    expect(performance.now() - started).toBeLessThan(PROMPT_MS);
  });

  it("answers at once what ended before it began to wait, with and without a cursor", async () => {
    const boss = newBoss();
    const one = await dispatch(boss);
    const { cursor } = await ask(boss);
    await one.move("complete");
    expect((await ask(boss, { cursor, waitSeconds: 30 })).ended).toHaveLength(1);
    expect((await ask(boss, { waitSeconds: 30 })).ended).toHaveLength(1);
  });

  it("is woken by a worker that died and was swept", async () => {
    const boss = newBoss();
    const one = await dispatch(boss);
    const { cursor } = await ask(boss);
    await sql`update item_state set expires_at = muster_now() - interval '1 day', claimed_at = muster_now() - interval '1 day'
      where item_id = ${one.itemId}`.execute(database().db);
    const waiting = ask(boss, { cursor, waitSeconds: 30 });
    await engine.engine.sweep(new AbortController().signal);
    expect((await waiting).ended).toMatchObject([
      { itemId: one.itemId, endReason: "expired", role: "queue" },
    ]);
  });

  it("ends its wait when its caller is gone, and when the process drains", async () => {
    const boss = newBoss();
    const gone = new AbortController();
    const left = ask(boss, { waitSeconds: 50 }, engine, { signal: gone.signal });
    gone.abort();
    expect((await left).ended).toEqual([]);
    const draining = createTestEngine(database(), { coordination });
    const waiting = ask(boss, { waitSeconds: 50 }, draining);
    draining.engine.drain();
    expect((await waiting).ended).toEqual([]);
    await draining.close();
  });

  it("refuses a cursor that is none, and starts anew with one of a database that was restored", async () => {
    const boss = newBoss();
    await expect(ask(boss, { cursor: "nonsense" })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    const one = await dispatch(boss);
    await one.move("complete");
    const future = Buffer.from(JSON.stringify([1, 0, "9000000000:9000000000:", "", "", "", 0])).toString(
      "base64url",
    );
    expect(await ask(boss, { cursor: future })).toMatchObject({
      cursorReset: true,
      ended: [{ itemId: one.itemId }],
    });
  });

  // Fails when ends are told by their time, or by a position that only looks at the last one told.
  it("passes over none that commits after one which ended later", async () => {
    const { db, kind } = database();
    if (kind === "pglite") return; // One connection: nothing overlaps.
    const boss = newBoss();
    const slow = await dispatch(boss, "slow");
    const quick = await dispatch(boss, "quick");
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const late = db.transaction().execute(async (tx) => {
      await sql`update attempts set ended_at = muster_now(), end_reason = 'released', ended_xid = pg_current_xact_id()
        where item_id = ${slow.itemId}`.execute(tx);
      begun.resolve();
      await held.promise;
    });
    await begun.promise;
    await quick.move("complete");
    const first = await ask(boss);
    expect(first.ended.map((one) => one.itemId)).toEqual([quick.itemId]);
    held.resolve();
    await late;
    const second = await ask(boss, { cursor: first.cursor });
    expect(second.ended.map((one) => one.itemId)).toEqual([slow.itemId]);
  });
});
