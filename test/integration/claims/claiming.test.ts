/** Getting a claim: by id, by selector, by two at once; and what everybody else is told. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { plantGraph, plantItem, type ItemFixture } from "../../support/fixtures.ts";
import {
  advance,
  agent,
  claim,
  claimCall,
  expectAnonymous,
  granted,
  refresh,
  refused,
  release,
  stateOf,
  tenuresOf,
} from "./calls.ts";

const ANN = agent("ann");
const BOB = agent("bob");

describeEachDatabase("claiming", (database) => {
  let engine: TestEngine;
  beforeAll(() => {
    engine = createTestEngine(database());
  });
  afterAll(() => engine.close());

  const plant = (item: ItemFixture = {}): Promise<string> => plantItem(database().db, item);
  /** A tree of its own, so that selectors of one test do not see the items of another. */
  const plantUnder = async (
    children: readonly ItemFixture[],
  ): Promise<{ ancestorId: string; ids: string[] }> => {
    const ancestorId = randomUUID();
    const [, ...ids] = await plantGraph(
      database().db,
      [{ id: ancestorId }, ...children.map((child) => ({ parentId: ancestorId, ...child }))],
      [],
    );
    return { ancestorId, ids };
  };

  it("gives an item to exactly one of two agents who claim it at once, and tells the other no more than when to come back [B36]", async () => {
    for (let round = 0; round < 100; round += 1) {
      const itemId = await plant();
      const rivals = [agent(`first-${round}`), agent(`second-${round}`)] as const;
      const results = await Promise.all(rivals.map((who) => claim(engine, who, { itemId, ttlSeconds: 60 })));
      const winner = results.findIndex((one) => one.outcome === "success");
      const loser = results[1 - winner];
      expect(results.map((one) => one.outcome).toSorted()).toEqual(["already_claimed", "success"]);
      expect(loser).toMatchObject({ kind: "transient", contendedItemId: itemId });
      expect(loser).toHaveProperty(
        "retryAfterMs",
        expect.toSatisfy((ms: number) => ms >= 1 && ms <= 60_000),
      );
      expectAnonymous(loser, rivals[winner] as (typeof rivals)[number]);
    }
  });

  it("gives the holder who claims again a later expiry and leaves the first claim's instant [B37] [P-03]", async () => {
    const itemId = await plant();
    const first = await granted(engine, ANN, { itemId });
    await database().advance(300_000);
    const again = await granted(engine, ANN, { itemId });
    expect(again.fence).toBe(first.fence);
    expect(again.originalClaimedAt).toBe(first.claimedAt);
    expect(Date.parse(again.claimExpiresAt) - Date.parse(first.claimExpiresAt)).toBeGreaterThanOrEqual(
      300_000,
    );
    expect(await tenuresOf(database().db, itemId)).toEqual(["ann-1: open"]);
  });

  it("counts a holder's tenure anew after somebody else had the item in between [B37]", async () => {
    const itemId = await plant();
    await granted(engine, ANN, { itemId });
    await release(engine, ANN, { itemId });
    await granted(engine, BOB, { itemId });
    await release(engine, BOB, { itemId });
    await database().advance(60_000);
    const again = await granted(engine, ANN, { itemId });
    expect(again).not.toHaveProperty("originalClaimedAt");
    expect(await tenuresOf(database().db, itemId)).toEqual([
      "ann-1: released",
      "bob-1: released",
      "ann-1: open",
    ]);
  });

  it("releases what a holder has when it claims another item [B38]", async () => {
    const [first, second] = await plantGraph(database().db, [{ role: "work" }, {}], []);
    await granted(engine, ANN, { itemId: first });
    await granted(engine, ANN, { itemId: second });
    const left = await stateOf(database().db, first as string);
    expect(left).toMatchObject({ agent: null, role: "queue", attempts: 0 });
    expect(await stateOf(database().db, second as string)).toMatchObject({ agent: "ann", session: "ann-1" });
    await release(engine, ANN, { itemId: second });
  });

  it("lets a holder keep what it has when the claim of another item fails [B38]", async () => {
    const kept = await plant();
    const taken = await plant();
    await granted(engine, ANN, { itemId: kept });
    await granted(engine, BOB, { itemId: taken });
    expect(await refused(engine, ANN, { itemId: taken })).toMatchObject({ outcome: "already_claimed" });
    expect(await refused(engine, ANN, { itemId: randomUUID() })).toMatchObject({ outcome: "not_found" });
    expect(await stateOf(database().db, kept)).toMatchObject({ agent: "ann" });
    await release(engine, ANN, { itemId: kept });
    await release(engine, BOB, { itemId: taken });
  });

  it("answers not_claimed_by_you for the release of an item that the claim in the same call released already [B39]", async () => {
    const first = await plant();
    const second = await plant();
    await granted(engine, ANN, { itemId: first });
    const call = await claimCall(engine, ANN, {
      claims: [{ itemId: second }],
      releases: [{ itemId: first }],
    });
    expect(call.claims[0]).toMatchObject({ outcome: "success" });
    expect(call.releases[0]).toMatchObject({ outcome: "not_claimed_by_you", itemId: first });
    await release(engine, ANN, { itemId: second });
  });

  it("lets nobody but the holder release, once [B40] [P-05]", async () => {
    const itemId = await plant();
    await granted(engine, ANN, { itemId });
    expect(await release(engine, BOB, { itemId })).toMatchObject({ outcome: "not_claimed_by_you" });
    expect(await stateOf(database().db, itemId)).toMatchObject({ agent: "ann" });
    expect(await release(engine, ANN, { itemId })).toMatchObject({ outcome: "success" });
    expect(await release(engine, ANN, { itemId })).toMatchObject({ outcome: "not_claimed_by_you" });
    expect(await release(engine, ANN, { itemId: randomUUID() })).toMatchObject({ outcome: "not_found" });
  });

  it("never lets a late release take the claim of the next holder [B40]", async () => {
    const itemId = await plant();
    const old = await granted(engine, ANN, { itemId });
    await release(engine, ANN, { itemId });
    await granted(engine, BOB, { itemId });
    expect(await release(engine, ANN, { itemId })).toMatchObject({ outcome: "not_claimed_by_you" });
    expect(await release(engine, ANN, { itemId, fence: old.fence })).toMatchObject({ outcome: "claim_lost" });
    expect(await stateOf(database().db, itemId)).toMatchObject({ agent: "bob" });
    await release(engine, BOB, { itemId });
  });

  it.each([0, 86_401, "900", 1.5, -1])(
    "refuses a ttl of %j and names the range [B41]",
    async (ttlSeconds) => {
      const itemId = await plant();
      const attempt = claim(engine, ANN, { itemId, ttlSeconds });
      await expect(attempt).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
      await expect(attempt).rejects.toThrow(/1 to 86400/);
      expect(await stateOf(database().db, itemId)).toMatchObject({ agent: null, fence: 0 });
    },
  );

  it("claims for 900 seconds when no ttl is asked for [B41]", async () => {
    const result = await granted(engine, ANN, { itemId: await plant() });
    expect(result.ttlSeconds).toBe(900);
    expect(Date.parse(result.claimExpiresAt) - Date.parse(result.claimedAt)).toBe(900_000);
    await release(engine, ANN, { itemId: result.itemId });
  });

  it("refuses two claims in one call before anything is written [B42]", async () => {
    const ids = [await plant(), await plant()];
    const attempt = claimCall(engine, ANN, { claims: ids.map((itemId) => ({ itemId })) });
    await expect(attempt).rejects.toMatchObject({ code: "multi_claim_not_supported" });
    for (const id of ids) expect(await stateOf(database().db, id)).toMatchObject({ agent: null, fence: 0 });
  });

  it("answers queue_empty when nothing matches, and none_eligible with the reasons counted when all is taken [B43]", async () => {
    const { ancestorId } = await plantUnder([{ role: "terminal" }]);
    expect(await refused(engine, ANN, { selector: { ancestorId, tags: "absent" } })).toMatchObject({
      outcome: "queue_empty",
      kind: "permanent",
    });
    const held = await plantUnder([{ claim: { agent: "zoe" } }]);
    const [container, inside, blocker, blocked, later] = await plantGraph(
      database().db,
      [
        { id: randomUUID(), parentId: held.ancestorId, role: "work", claim: { agent: "zoe" } },
        {},
        { role: "terminal", outcome: "cancelled" },
        { parentId: held.ancestorId },
        { parentId: held.ancestorId, availableIn: 60 },
      ],
      [],
    );
    expect([inside, blocker].every(Boolean)).toBe(true);
    await plantItem(database().db, { parentId: container as string });
    await plantGraph(database().db, [], [{ from: blocker as string, to: blocked as string }]);
    const none = await refused(engine, ANN, { selector: { ancestorId: held.ancestorId } });
    expect(none).toMatchObject({
      outcome: "none_eligible",
      kind: "transient",
      excluded: { claimed: 1, ancestorClaimed: 1, dependencyBlocked: 1, waiting: 1 },
    });
    const available = (await stateOf(database().db, later as string)).available_at;
    expect(none.nextAt).toBe(available?.toISOString());
    expectAnonymous(none, { id: "zoe", workerId: "zoe-session" });
  });

  it("finds the one free item behind 250 blocked ones that rank higher [B44]", async () => {
    const { ancestorId, ids } = await plantUnder([
      ...Array.from({ length: 250 }, (): ItemFixture => ({ priority: "high" })),
      { priority: "low" },
    ]);
    const blocker = await plant({ role: "terminal", outcome: "cancelled" });
    await plantGraph(
      database().db,
      [],
      ids.slice(0, 250).map((to) => ({ from: blocker, to })),
    );
    const result = await granted(engine, ANN, { selector: { ancestorId } });
    expect(result).toMatchObject({ itemId: ids[250], selectorResolved: true });
    await release(engine, ANN, { itemId: result.itemId });
  });

  it("gives as many items to as many agents who ask at once, and refuses none [B45]", async () => {
    const { ancestorId, ids } = await plantUnder(Array.from({ length: 16 }, () => ({})));
    const results = await Promise.all(
      ids.map((_, index) => claim(engine, agent(`crew-${index}`), { selector: { ancestorId } })),
    );
    expect(results.map((one) => one.outcome)).toEqual(ids.map(() => "success"));
    expect(new Set(results.map((one) => one.itemId))).toEqual(new Set(ids));
  });

  it("hides what lies below another agent's claim, shows it to the same agent, and warns who claims it by id all the same [B46]", async () => {
    const { ancestorId, ids } = await plantUnder([{ role: "work" }]);
    const [parent] = ids as [string];
    const middle = await plantItem(database().db, { parentId: parent, role: "work" });
    const leaf = await plantItem(database().db, { parentId: middle });
    await granted(engine, ANN, { itemId: parent });
    expect(await refused(engine, BOB, { selector: { ancestorId } })).toMatchObject({
      outcome: "none_eligible",
      excluded: { ancestorClaimed: 1 },
    });
    const own = agent("ann", "ann-2");
    expect(await granted(engine, own, { selector: { ancestorId } })).toMatchObject({ itemId: leaf });
    await release(engine, own, { itemId: leaf });
    const byId = await granted(engine, BOB, { itemId: leaf });
    expect(byId.warnings).toEqual([expect.stringMatching(/container above it is claimed/)]);
    expectAnonymous(byId.warnings, ANN);
    await release(engine, BOB, { itemId: leaf });
    await release(engine, ANN, { itemId: parent });
  });

  it("says what a claim by id did not ask for: unsatisfied dependencies, a wait, another assignee", async () => {
    const blocker = await plant();
    const itemId = await plant({ availableIn: 60, assignee: "zoe", needs: ["gpu"] });
    await plantGraph(database().db, [], [{ from: blocker, to: itemId }]);
    const { warnings } = await granted(engine, ANN, { itemId });
    expect(warnings).toEqual([
      expect.stringMatching(/unsatisfied dependenc/),
      expect.stringMatching(/not to be offered before/),
      expect.stringMatching(/needs capabilities/),
      expect.stringMatching(/meant for another agent/),
    ]);
    await release(engine, ANN, { itemId });
  });

  it("answers terminal_item for a closed item and not_found for one that is not there [B47]", async () => {
    const itemId = await plant({ role: "terminal" });
    expect(await refused(engine, ANN, { itemId })).toMatchObject({
      outcome: "terminal_item",
      kind: "permanent",
    });
    expect(await refused(engine, ANN, { itemId: randomUUID() })).toMatchObject({ outcome: "not_found" });
  });

  it("claims and starts in one call, and refuses the claim when the start cannot be done", async () => {
    const itemId = await plant();
    expect(await granted(engine, ANN, { itemId, start: true })).toMatchObject({
      started: true,
      item: { role: "work" },
    });
    const blocked = await plant();
    await plantGraph(database().db, [], [{ from: itemId, to: blocked }]);
    expect(await refused(engine, BOB, { itemId: blocked, start: true })).toMatchObject({
      outcome: "dependency_blocked",
    });
    expect(await stateOf(database().db, blocked)).toMatchObject({ agent: null, fence: 0, role: "queue" });
    await advance(engine, ANN, { itemId, trigger: "complete" });
  });

  it("leaves version and instant of change alone through claim, heartbeat and release, and tells of no heartbeat [P-10] [F-09]", async () => {
    const itemId = await plant();
    const content = (): Promise<{ version: number; modified_at: Date }> =>
      database()
        .db.selectFrom("items")
        .select(["version", "modified_at"])
        .where("id", "=", itemId)
        .executeTakeFirstOrThrow();
    const before = await content();
    const { modified_at: stateBefore } = await stateOf(database().db, itemId);
    const { fence } = await granted(engine, ANN, { itemId });
    const events = async (): Promise<number> =>
      (await database().db.selectFrom("events").select("seq").where("item_id", "=", itemId).execute()).length;
    const told = await events();
    for (let beat = 0; beat < 100; beat += 1) await refresh(engine, ANN, { itemId, fence });
    expect(await events()).toBe(told);
    await release(engine, ANN, { itemId });
    expect(await content()).toEqual(before);
    expect((await stateOf(database().db, itemId)).modified_at).toEqual(stateBefore);
  });

  it("does not offer a held item, and fills the gap with the next one [P-12]", async () => {
    const { ancestorId, ids } = await plantUnder([{ priority: "high" }, { priority: "low" }]);
    expect(await granted(engine, ANN, { selector: { ancestorId } })).toMatchObject({ itemId: ids[0] });
    expect(await granted(engine, BOB, { selector: { ancestorId } })).toMatchObject({ itemId: ids[1] });
    await release(engine, ANN, { itemId: ids[0] as string });
    await release(engine, BOB, { itemId: ids[1] as string });
  });
});
