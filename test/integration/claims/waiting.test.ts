/** Claims that wait: what wakes them, what ends their wait, and what they never take. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { type ItemFixture, plantEdge, plantItem } from "../../support/fixtures.ts";
import { advance, agent, claim, create, granted, refused, release, stateOf } from "./calls.ts";

const ANN = agent("ann");
const BOB = agent("bob");
/** Far below the pace at which waiters look by themselves, and far above what a wake-up takes. */
const PROMPT_MS = 3_000;

describeEachDatabase("a claim that waits", (database) => {
  let engine: TestEngine;
  beforeAll(() => {
    engine = createTestEngine(database());
  });
  afterAll(() => engine.close());

  const plant = (item: ItemFixture = {}): Promise<string> => plantItem(database().db, item);
  /** A container of its own for every test; in work, so that it is not offered itself. */
  const room = (): Promise<string> => plant({ role: "work" });
  const waitIn = (ancestorId: string, who = BOB, caller: { signal?: AbortSignal } = {}) =>
    claim(engine, who, { selector: { ancestorId } }, { waitSeconds: 30 }, caller);

  /** Waits until so many claims are asleep: each has looked, found nothing and holds a ticket. */
  async function asleep(count: number, on: TestEngine = engine): Promise<void> {
    const { wakeUps } = on.coordination;
    await expect
      .poll(() => sleepers.get(wakeUps) ?? 0, { interval: 5, timeout: PROMPT_MS })
      .toBeGreaterThanOrEqual(count);
  }
  /** Counts waits that are open. Wrapped once per engine. */
  const sleepers = new Map<object, number>();
  function watch(on: TestEngine): void {
    const { wakeUps } = on.coordination;
    const take = wakeUps.ticket.bind(wakeUps);
    sleepers.set(wakeUps, 0);
    const change = (by: number): void => void sleepers.set(wakeUps, (sleepers.get(wakeUps) ?? 0) + by);
    wakeUps.ticket = (topics) => {
      const ticket = take(topics);
      return {
        ...ticket,
        async wait(ms, signal) {
          change(1);
          return await ticket.wait(ms, signal).finally(() => change(-1));
        },
      };
    };
  }
  beforeAll(() => watch(engine));

  async function promptly<T>(waiting: Promise<T>): Promise<T> {
    const started = performance.now();
    const result = await waiting;
    expect(performance.now() - started).toBeLessThan(PROMPT_MS);
    return result;
  }

  it("wakes when an item is created", async () => {
    const parentId = await room();
    const waiting = waitIn(parentId);
    await asleep(1);
    const [made] = (await create(engine, ["new"], { parentId })) as [string];
    expect(await promptly(waiting)).toMatchObject({ outcome: "success", itemId: made });
    await release(engine, BOB, { itemId: made });
  });

  it("wakes when an item is released", async () => {
    const parentId = await room();
    const itemId = await plant({ parentId });
    await granted(engine, ANN, { itemId });
    const waiting = waitIn(parentId);
    await asleep(1);
    await release(engine, ANN, { itemId });
    expect(await promptly(waiting)).toMatchObject({ outcome: "success", itemId });
    await release(engine, BOB, { itemId });
  });

  it("wakes when the last blocker finishes", async () => {
    const parentId = await room();
    const blocker = await plant();
    const itemId = await plant({ parentId });
    await plantEdge(database().db, blocker, itemId);
    const waiting = waitIn(parentId);
    await asleep(1);
    await advance(engine, null, { itemId: blocker, trigger: "complete" });
    expect(await promptly(waiting)).toMatchObject({ outcome: "success", itemId });
    await release(engine, BOB, { itemId });
  });

  it("wakes at the instant from which an item is available, though nothing is published then", async () => {
    const parentId = await room();
    const itemId = await plant({ parentId, availableIn: 60 });
    await database().advance(59_700);
    expect(await promptly(waitIn(parentId))).toMatchObject({ outcome: "success", itemId });
    await release(engine, BOB, { itemId });
  });

  it("wakes when the claim in its way lapses, and frees it without any sweep", async () => {
    const parentId = await room();
    const itemId = await plant({ parentId });
    await granted(engine, ANN, { itemId, ttlSeconds: 60 });
    await database().advance(59_700);
    expect(await promptly(waitIn(parentId))).toMatchObject({ outcome: "success", itemId });
    await release(engine, BOB, { itemId });
  });

  it("is told when a claim lapses whose expiry has passed, not that it has passed", async () => {
    const parentId = await room();
    // Planted: the clock never heard of this holder, so only half a ttl more makes it lapse.
    const held = await plant({ parentId, claim: { agent: "ann", ttlSeconds: 900 } });
    await database().advance(900_001);
    const none = await refused(engine, BOB, { selector: { ancestorId: parentId } });
    expect(none).toMatchObject({ outcome: "none_eligible", retryAfterMs: 30_000, excluded: { claimed: 1 } });
    const { expires_at: expiresAt } = await stateOf(database().db, held);
    expect(none).toMatchObject({ nextAt: new Date(Number(expiresAt) + 450_000).toISOString() });
    await database().advance(450_000);
    // The empty answer is remembered for a moment of real time, which is not moved.
    const found = await claim(engine, BOB, { selector: { ancestorId: parentId } }, { waitSeconds: 10 });
    expect(found).toMatchObject({ outcome: "success", selectorResolved: true });
  });

  it("is answered with an empty result when its time is up, with the reason", async () => {
    const parentId = await room();
    await plant({ parentId, claim: { agent: "zoe", ttlSeconds: 900 } });
    const result = await claim(engine, BOB, { selector: { ancestorId: parentId } }, { waitSeconds: 1 });
    expect(result).toMatchObject({ outcome: "none_eligible", excluded: { claimed: 1 } });
  });

  it("takes nothing once its caller is gone", async () => {
    const parentId = await room();
    const caller = new AbortController();
    const waiting = waitIn(parentId, BOB, { signal: caller.signal });
    await asleep(1);
    caller.abort();
    expect((await promptly(waiting)).outcome).not.toBe("success");
    const [made] = (await create(engine, ["new"], { parentId })) as [string];
    expect(await stateOf(database().db, made)).toMatchObject({ agent: null, fence: 0 });
  });

  it("is not even tried for a caller that is gone before", async () => {
    const itemId = await plant();
    const gone = await claim(engine, BOB, { itemId }, {}, { signal: AbortSignal.abort() });
    expect(gone).toMatchObject({ outcome: "draining", kind: "shedding" });
    expect(await stateOf(database().db, itemId)).toMatchObject({ agent: null, fence: 0 });
  });

  it("is one of many for a single item: one gets it, the others go on waiting", async () => {
    const parentId = await room();
    const crew = Array.from({ length: 8 }, (_, index) => agent(`waiter-${index}`));
    const leave = new AbortController();
    const answered: string[] = [];
    const waiting = crew.map(async (who) => {
      const result = await waitIn(parentId, who, { signal: leave.signal });
      answered.push(result.outcome);
      return result;
    });
    await asleep(crew.length);
    const [made] = (await create(engine, ["new"], { parentId })) as [string];
    await promptly(Promise.race(waiting));
    await asleep(crew.length - 1);
    expect(answered).toEqual(["success"]);
    leave.abort();
    const outcomes = (await Promise.all(waiting)).map((one) => one.outcome);
    expect(outcomes.filter((outcome) => outcome === "success")).toHaveLength(1);
    expect((await stateOf(database().db, made)).agent).toMatch(/^waiter-/);
  });

  it("is answered at once when the process drains, and nobody waits any more after that", async () => {
    const parentId = await room();
    const other = createTestEngine(database());
    watch(other);
    const call = () =>
      claim(other, BOB, { selector: { ancestorId: parentId, role: "queue" } }, { waitSeconds: 30 });
    const waiting = call();
    await asleep(1, other);
    other.engine.drain();
    expect(await promptly(waiting)).toMatchObject({ outcome: "queue_empty" });
    expect(await promptly(call())).toMatchObject({ outcome: "queue_empty" });
    await other.close();
  });

  it("is not hidden a new item by a remembered empty answer: what is published is seen by the next claim", async () => {
    const parentId = await room();
    const entry = { selector: { ancestorId: parentId, role: "queue" } };
    // Without it the room would close with its last child.
    await plant({ parentId, role: "blocked" });
    for (let round = 0; round < 5; round += 1) {
      expect(await refused(engine, BOB, entry)).toMatchObject({ outcome: "queue_empty" });
      const [made] = (await create(engine, ["new"], { parentId })) as [string];
      expect(await granted(engine, BOB, entry)).toMatchObject({ itemId: made });
      await advance(engine, BOB, { itemId: made, trigger: "cancel" });
    }
  });

  it("is not hidden an item by a remembered empty answer for longer than 250 ms, though nothing was published", async () => {
    const parentId = await room();
    const entry = { selector: { ancestorId: parentId, role: "queue" } };
    await refused(engine, BOB, entry);
    const remembered = performance.now();
    const itemId = await plant({ parentId });
    await expect
      .poll(async () => (await claim(engine, BOB, entry)).outcome, { interval: 20, timeout: PROMPT_MS })
      .toBe("success");
    expect(performance.now() - remembered).toBeLessThan(1_500);
    await release(engine, BOB, { itemId });
  });

  it("frees what lapsed in its way in one call, behind however many other lapsed claims", async () => {
    const crowd = await room();
    await plantMany(crowd, 120);
    const parentId = await room();
    const itemId = await plant({ parentId, role: "work", claim: { agent: "late", ttlSeconds: 900 } });
    await database().advance(2_000_000);
    expect(await granted(engine, BOB, { selector: { ancestorId: parentId } })).toMatchObject({ itemId });
    await release(engine, BOB, { itemId });
  });

  async function plantMany(parentId: string, count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      await plant({ parentId, role: "work", claim: { agent: `crowd-${index}`, ttlSeconds: 60 } });
    }
  }
});
