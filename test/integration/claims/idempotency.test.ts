/** The same call again: on the same replica, on another one, at the same moment, or with something else in it. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClaimGranted } from "../../../services/contract/claiming.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine, worker } from "../../support/engine.ts";
import { plantEdge, plantGraph, plantItem } from "../../support/fixtures.ts";
import {
  advance,
  agent,
  claim,
  claimCall,
  eventsOf,
  granted,
  refresh,
  refused,
  release,
  stateOf,
  tenuresOf,
} from "./calls.ts";
import { openFleet, useFleet } from "./engines.ts";

const ANN = agent("ann");
const BOB = agent("bob");

/** The answer of a call that finishes one item and claims the next. */
interface HandedIn {
  readonly results: readonly unknown[];
  readonly next: ClaimGranted;
}

/** What may differ between an answer and its replay: the mark itself, and what is said as of now. */
function settled(answer: object): Record<string, unknown> {
  const { replayed: _, fenceCurrent: __, msLeft: ___, ...rest } = answer as Record<string, unknown>;
  return rest;
}

describeEachDatabase("a call that is repeated", (database) => {
  let engine: TestEngine;
  beforeAll(() => {
    engine = createTestEngine(database());
  });
  afterAll(() => engine.close());
  const plant = () => plantItem(database().db);

  it("claims once and answers the same, marked as replayed [B54] [F-04]", async () => {
    const root = await plant();
    await plantGraph(database().db, [{ parentId: root }, { parentId: root }], []);
    const requestId = randomUUID();
    const entry = { selector: { ancestorId: root }, ttlSeconds: 60, claimRef: "mine" };
    const first = await granted(engine, ANN, entry, { requestId });
    const again = await granted(engine, ANN, entry, { requestId });
    expect(again).toMatchObject({ replayed: true, fenceCurrent: true });
    expect(settled(again)).toEqual(settled(first));
    expect(await eventsOf(database().db, first.itemId)).toEqual(["claim.granted"]);
    await release(engine, ANN, { itemId: first.itemId });
  });

  it("says whether its fence still counts and the time left as of now [B54]", async () => {
    const itemId = await plant();
    const requestId = randomUUID();
    const first = await granted(engine, ANN, { itemId, ttlSeconds: 60 }, { requestId });
    await database().advance(20_000);
    const soon = await granted(engine, ANN, { itemId, ttlSeconds: 60 }, { requestId });
    expect(soon.msLeft).toBeLessThanOrEqual(40_000);
    await refresh(engine, ANN, { itemId, fence: first.fence, ttlSeconds: 120 });
    const renewed = await granted(engine, ANN, { itemId, ttlSeconds: 60 }, { requestId });
    expect(renewed.msLeft).toBeGreaterThan(100_000);
    await release(engine, ANN, { itemId });
    const over = await granted(engine, ANN, { itemId, ttlSeconds: 60 }, { requestId });
    expect(over).toMatchObject({ replayed: true, fenceCurrent: false, msLeft: 0, fence: first.fence });
    expect(await stateOf(database().db, itemId)).toMatchObject({ agent: null });
  });

  it("releases once, and transitions once [B54]", async () => {
    const itemId = await plant();
    await granted(engine, ANN, { itemId });
    const moving = randomUUID();
    const move = { itemId, trigger: "start" };
    const moved = await advance(engine, ANN, move, { requestId: moving });
    const movedAgain = await advance(engine, ANN, move, { requestId: moving });
    expect(moved).toMatchObject({ applied: true, newRole: "work" });
    expect(movedAgain).toEqual({ ...moved, replayed: true });
    const requestId = randomUUID();
    const call = { requestId, releases: [{ itemId, requeue: true }] };
    const { releases: first } = await claimCall(engine, ANN, call);
    const { releases: second } = await claimCall(engine, ANN, call);
    expect(first[0]).toMatchObject({ outcome: "success", requeued: true, role: "queue" });
    expect(second[0]).toEqual({ ...first[0], replayed: true });
    expect(await tenuresOf(database().db, itemId)).toEqual(["ann-1: released"]);
  });

  it("finishes and claims the next item once, in one call [B54]", async () => {
    const root = await plant();
    const [done, next] = (await plantGraph(database().db, [{ parentId: root }, { parentId: root }], [])) as [
      string,
      string,
    ];
    await granted(engine, ANN, { itemId: done, start: true });
    const call = {
      actor: worker("ann"),
      workerId: ANN.workerId,
      requestId: randomUUID(),
      transitions: [{ itemId: done, trigger: "complete" }],
      claimNext: { selector: { ancestorId: root }, start: true },
    };
    const first = (await engine.call("advance_item", call)) as HandedIn;
    const again = (await engine.call("advance_item", call)) as HandedIn;
    expect(first.next).toMatchObject({ outcome: "success", itemId: next, started: true });
    expect(again.next).toMatchObject({ itemId: next, replayed: true, fence: first.next.fence });
    expect(again.results[0]).toMatchObject({ applied: true, replayed: true });
    expect(await tenuresOf(database().db, next)).toEqual(["ann-1: open"]);
    await release(engine, ANN, { itemId: next });
  });

  it("does nothing under a key that was used for another claim, another tool, or the release in place of the claim [B55]", async () => {
    const itemId = await plant();
    const other = await plant();
    const requestId = randomUUID();
    await granted(engine, ANN, { itemId }, { requestId });
    const mismatch = { code: "idempotency_mismatch" };
    await expect(claim(engine, ANN, { itemId: other }, { requestId })).rejects.toMatchObject(mismatch);
    await expect(claimCall(engine, ANN, { requestId, releases: [{ itemId }] })).rejects.toMatchObject(
      mismatch,
    );
    await expect(advance(engine, ANN, { itemId, trigger: "start" }, { requestId })).rejects.toMatchObject(
      mismatch,
    );
    const create = { operation: "create", items: [{ title: "new" }], actor: worker("ann"), requestId };
    await expect(engine.call("manage_items", create)).rejects.toMatchObject(mismatch);
    expect(await stateOf(database().db, itemId)).toMatchObject({ agent: "ann", role: "queue" });
    expect(await stateOf(database().db, other)).toMatchObject({ agent: null });
    await release(engine, ANN, { itemId });
  });

  it("does nothing under a key that another tool used, claim or transition [B55]", async () => {
    const requestId = randomUUID();
    const itemId = await plant();
    await engine.call("manage_items", {
      operation: "create",
      items: [{ title: "new" }],
      actor: worker("ann"),
      requestId,
    });
    const mismatch = { code: "idempotency_mismatch" };
    await expect(claim(engine, ANN, { itemId }, { requestId })).rejects.toMatchObject(mismatch);
    await expect(advance(engine, ANN, { itemId, trigger: "start" }, { requestId })).rejects.toMatchObject(
      mismatch,
    );
    const moving = randomUUID();
    await advance(engine, ANN, { itemId, trigger: "start" }, { requestId: moving });
    await expect(claim(engine, ANN, { itemId }, { requestId: moving })).rejects.toMatchObject(mismatch);
    await expect(
      advance(engine, ANN, { itemId, trigger: "complete" }, { requestId: moving }),
    ).rejects.toMatchObject(mismatch);
    expect(await stateOf(database().db, itemId)).toMatchObject({ agent: null, role: "work" });
  });

  it("is tried anew after a refusal that hung on the state: a held item, an empty queue, a blocker [B56]", async () => {
    const itemId = await plant();
    const requestId = randomUUID();
    await granted(engine, BOB, { itemId });
    expect(await refused(engine, ANN, { itemId }, { requestId })).toMatchObject({
      outcome: "already_claimed",
    });
    await release(engine, BOB, { itemId });
    const claimed = await granted(engine, ANN, { itemId }, { requestId });
    expect(claimed).not.toHaveProperty("replayed");
    const root = await plantItem(database().db, { role: "work" });
    const searching = randomUUID();
    const entry = { selector: { ancestorId: root, role: "queue" } };
    expect(await refused(engine, BOB, entry, { requestId: searching })).toMatchObject({
      outcome: "queue_empty",
    });
    const child = await plantItem(database().db, { parentId: root });
    engine.coordination.wakeUps.publish(["claimable"]);
    expect(await granted(engine, BOB, entry, { requestId: searching })).toMatchObject({ itemId: child });
    await plantEdge(database().db, itemId, child);
    const moving = randomUUID();
    const move = { itemId: child, trigger: "start" };
    expect(await advance(engine, BOB, move, { requestId: moving })).toMatchObject({
      errorCode: "dependency_blocked",
    });
    await advance(engine, ANN, { itemId, trigger: "complete" });
    expect(await advance(engine, BOB, move, { requestId: moving })).toMatchObject({ applied: true });
    await release(engine, BOB, { itemId: child });
  });

  it.each([
    ["claim_item", { claims: [{ selector: {} }] }],
    ["advance_item", { transitions: [{ itemId: randomUUID(), trigger: "start" }] }],
    ["manage_items", { operation: "create", items: [{ title: "new" }] }],
  ])("needs a key that is a UUID: %s [B57]", async (name, call) => {
    const attempt = async (): Promise<unknown> =>
      (await engine.call(name, { actor: worker("ann"), ...call, requestId: "again" })) as unknown;
    await expect(attempt).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringContaining("requestId") as unknown,
    });
  });

  it("is another call when another principal makes it [B59]", async () => {
    const requestId = randomUUID();
    const [first, second] = [await plant(), await plant()];
    const ours = await granted(engine, ANN, { itemId: first }, { requestId });
    const theirs = await granted(engine, BOB, { itemId: second }, { requestId });
    for (const one of [ours, theirs]) expect(one).not.toHaveProperty("replayed");
    await release(engine, ANN, { itemId: first });
    await release(engine, BOB, { itemId: second });
  });

  it("is not answered with an item that was deleted since [P-24]", async () => {
    const itemId = await plant();
    const requestId = randomUUID();
    await granted(engine, ANN, { itemId }, { requestId });
    await release(engine, ANN, { itemId });
    await engine.call("manage_items", { operation: "delete", itemIds: [itemId], actor: worker("ann") });
    expect(await refused(engine, ANN, { itemId }, { requestId })).toMatchObject({
      outcome: "idempotency_target_gone",
    });
  });
});

describe("a call that reaches two replicas", () => {
  const fleet = useFleet(2);
  const replicas = () => fleet.engines as [TestEngine, TestEngine];

  it("one after the other is answered by the second with what the first did [B58]", async () => {
    const [one, two] = replicas();
    const itemId = await plantItem(fleet.database.db);
    const requestId = randomUUID();
    const first = await granted(one, ANN, { itemId }, { requestId });
    const second = await granted(two, ANN, { itemId }, { requestId });
    expect(second.replayed).toBe(true);
    expect(settled(second)).toEqual(settled(first));
    const moving = randomUUID();
    const moved = await advance(one, ANN, { itemId, trigger: "start" }, { requestId: moving });
    expect(await advance(two, ANN, { itemId, trigger: "start" }, { requestId: moving })).toEqual({
      ...moved,
      replayed: true,
    });
    await release(one, ANN, { itemId });
  });

  it("at the same moment has one effect: one executes, the other replays [B58] [P-25]", async () => {
    for (let round = 0; round < 20; round += 1) {
      const root = await plantItem(fleet.database.db);
      await plantGraph(fleet.database.db, [{ parentId: root }, { parentId: root }], []);
      const who = agent(`twin-${round}`);
      const requestId = randomUUID();
      const entry = { selector: { ancestorId: root } };
      const both = await Promise.all(replicas().map((engine) => granted(engine, who, entry, { requestId })));
      expect(new Set(both.map((one) => `${one.itemId} ${one.fence}`)).size).toBe(1);
      expect(both.filter((one) => one.replayed === true)).toHaveLength(1);
      const itemId = both[0]?.itemId ?? "";
      const moving = randomUUID();
      const moves = await Promise.all(
        replicas().map((engine) => advance(engine, who, { itemId, trigger: "start" }, { requestId: moving })),
      );
      expect(moves.map((one) => one.newRole)).toEqual(["work", "work"]);
      expect(moves.filter((one) => one.replayed === true)).toHaveLength(1);
      expect(await tenuresOf(fleet.database.db, itemId)).toEqual([`${who.workerId}: open`]);
    }
  });

  it("after the first replica died between the commit and the answer is answered with what was committed [P-26]", async () => {
    const [, two] = replicas();
    const lost = await openFleet(fleet.database, fleet.redis, 1);
    const dying = lost.engines[0] as TestEngine;
    const itemId = await plantItem(fleet.database.db);
    const requestId = randomUUID();
    // The answer is thrown away, as it is when the process dies after its commit.
    await granted(dying, ANN, { itemId }, { requestId });
    await lost.close();
    expect(await granted(two, ANN, { itemId }, { requestId })).toMatchObject({
      replayed: true,
      fenceCurrent: true,
    });
    await release(two, ANN, { itemId });
  });

  it("a ttl that the holder changes at one replica counts for the heartbeats at the other, which remembers the old one", async () => {
    const [one, two] = replicas();
    const itemId = await plantItem(fleet.database.db);
    const { fence } = await granted(one, ANN, { itemId, ttlSeconds: 900 });
    expect((await refresh(two, ANN, { itemId, fence })).outcome).toBe("success");
    expect((await refresh(two, ANN, { itemId, fence })).outcome).toBe("success");
    await granted(one, ANN, { itemId, ttlSeconds: 10 });
    const beat = await refresh(two, ANN, { itemId, fence });
    expect(beat.outcome).toBe("success");
    expect(beat.msLeft).toBeLessThanOrEqual(10_000);
    await release(one, ANN, { itemId });
  });
});
