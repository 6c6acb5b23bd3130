/** Who holds an item, for how long, and what the holder's end leaves behind; with every coordination. */
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { plantItem, type ItemFixture } from "../../support/fixtures.ts";
import {
  advance,
  agent,
  claimCall,
  expectAnonymous,
  granted,
  refresh,
  refused,
  release,
  stateOf,
  tenuresOf,
} from "./calls.ts";
import { describeEachWay } from "./engines.ts";

const ANN = agent("ann");
const BOB = agent("bob");
const LAPSE_MS = 90_001;

describeEachWay("holding", (bench) => {
  const plant = (item: ItemFixture = {}): Promise<string> => plantItem(bench().database.db, item);
  const state = (itemId: string) => stateOf(bench().database.db, itemId);
  const tenures = (itemId: string) => tenuresOf(bench().database.db, itemId);
  const pass = (ms: number) => bench().database.advance(ms);

  it("another agent claims what expired a second ago, without any sweep [P-04]", async () => {
    const itemId = await plant();
    const first = await granted(bench().engine, ANN, { itemId, ttlSeconds: 60 });
    await pass(61_000);
    const second = await granted(bench().engine, BOB, { itemId, ttlSeconds: 60 });
    expect(Date.parse(second.claimedAt)).toBeGreaterThan(Date.parse(first.claimedAt) + 60_000);
    expect(second.fence).toBeGreaterThan(first.fence);
    expect(await tenures(itemId)).toEqual(["ann-1: expired", "bob-1: open"]);
    await release(bench().engine, BOB, { itemId });
  });

  it("a second worker of the same name is refused, and told how to prove itself [P-06]", async () => {
    const itemId = await plant();
    await granted(bench().engine, ANN, { itemId });
    const second = await refused(bench().engine, agent("ann", "ann-2"), { itemId });
    expect(second).toMatchObject({
      outcome: "already_claimed",
      hint: expect.stringMatching(/workerId or the fence/) as unknown,
    });
    expect(await state(itemId)).toMatchObject({ session: "ann-1" });
    await release(bench().engine, ANN, { itemId });
  });

  it("a worker that reconnects passes the workerId it was given and goes on [P-07]", async () => {
    const itemId = await plant();
    const actor = { id: "ann", kind: "subagent" };
    const first: unknown = await bench().engine.call(
      "claim_item",
      { actor, requestId: randomUUID(), claims: [{ itemId }] },
      { session: null },
    );
    const { workerId, claims } = first as Awaited<ReturnType<typeof claimCall>>;
    expect(workerId).toMatch(/^w-/);
    const { fence } = claims[0] as { fence: number };
    const reconnected = { id: "ann", workerId };
    expect(await refresh(bench().engine, reconnected, { itemId, fence })).toMatchObject({
      outcome: "success",
      fence,
    });
    expect(await granted(bench().engine, reconnected, { itemId })).toMatchObject({ fence });
    await release(bench().engine, reconnected, { itemId });
  });

  it("agent and fence together take a claim over from another session, and its late writes are refused", async () => {
    const itemId = await plant();
    const first = await granted(bench().engine, ANN, { itemId });
    const moved = agent("ann", "ann-2");
    const second = await granted(bench().engine, moved, { itemId, fence: first.fence });
    expect(second.fence).toBeGreaterThan(first.fence);
    expect(second.originalClaimedAt).toBe(first.claimedAt);
    expect(await refresh(bench().engine, ANN, { itemId, fence: first.fence })).toMatchObject({
      outcome: "claim_lost",
    });
    const late = await advance(bench().engine, ANN, { itemId, trigger: "complete", fence: first.fence });
    expect(late).toMatchObject({ applied: false, errorCode: "claim_lost" });
    expect(await refused(bench().engine, BOB, { itemId, fence: second.fence })).toMatchObject({
      outcome: "already_claimed",
    });
    await release(bench().engine, moved, { itemId });
  });

  it.each(["", "has spaces", "ümlaut", "x".repeat(201)])(
    "a workerId like %j is refused and changes nothing [P-08]",
    async (workerId) => {
      const itemId = await plant();
      const attempt = claimCall(bench().engine, agent("ann", workerId), { claims: [{ itemId }] });
      await expect(attempt).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
      expect(await state(itemId)).toMatchObject({ agent: null, fence: 0 });
    },
  );

  it("no refusal tells who the holder is: not its name, not its worker [P-09]", async () => {
    const secret = agent("zoe-the-holder", "worker-7f3a9c");
    const itemId = await plant();
    const { fence } = await granted(bench().engine, secret, { itemId });
    const answers = [
      await refused(bench().engine, BOB, { itemId }),
      await release(bench().engine, BOB, { itemId }),
      await refresh(bench().engine, BOB, { itemId, fence }),
      await advance(bench().engine, BOB, { itemId, trigger: "complete" }),
    ];
    expectAnonymous(answers, secret);
    await release(bench().engine, secret, { itemId });
  });

  it("a claimed item is moved by its holder alone, and by others once the claim has expired [B48]", async () => {
    const itemId = await plant();
    await granted(bench().engine, ANN, { itemId, ttlSeconds: 60 });
    const start = { itemId, trigger: "start" };
    expect(await advance(bench().engine, BOB, start)).toMatchObject({
      applied: false,
      errorCode: "not_claim_holder",
    });
    expect(await advance(bench().engine, null, start)).toMatchObject({
      applied: false,
      errorCode: "not_claim_holder",
    });
    expect(await advance(bench().engine, ANN, start)).toMatchObject({ applied: true, newRole: "work" });
    await pass(61_000);
    // Freeing the lapsed claim hands the item back to the queue first: the start is a start again.
    expect(await advance(bench().engine, BOB, start)).toMatchObject({
      applied: true,
      previousRole: "queue",
      newRole: "work",
    });
    expect(await state(itemId)).toMatchObject({ agent: null, role: "work", attempts: 1 });
    expect(await tenures(itemId)).toEqual(["ann-1: expired"]);
  });

  it("finishing clears the claim, and what is reopened starts unclaimed [B50]", async () => {
    const itemId = await plant();
    const { fence } = await granted(bench().engine, ANN, { itemId, start: true });
    expect(await advance(bench().engine, ANN, { itemId, trigger: "complete", fence })).toMatchObject({
      claimReleased: true,
    });
    const closed = await state(itemId);
    expect(closed).toMatchObject({ agent: null, session: null, expires_at: null, role: "terminal" });
    expect(closed.fence).toBeGreaterThan(fence);
    await advance(bench().engine, null, { itemId, trigger: "reopen" });
    expect(await state(itemId)).toMatchObject({ agent: null, role: "queue" });
    expect(await tenures(itemId)).toEqual(["ann-1: completed"]);
  });

  it("a heartbeat beside the holder's own transition disturbs neither [B51]", async () => {
    const itemId = await plant();
    const { fence } = await granted(bench().engine, ANN, { itemId });
    const moves = ["start", "block", "resume"];
    for (const trigger of moves) {
      const [beat, move] = await Promise.all([
        refresh(bench().engine, ANN, { itemId, fence, ttlSeconds: 600 + moves.indexOf(trigger) }),
        advance(bench().engine, ANN, { itemId, trigger, fence }),
      ]);
      expect(beat).toMatchObject({ outcome: "success" });
      expect(move).toMatchObject({ applied: true });
    }
    await release(bench().engine, ANN, { itemId });
  });

  it("what a crashed worker had started can be claimed after the lapse, one attempt poorer, and the late worker is refused [B52] [F-02]", async () => {
    const itemId = await plant();
    const lost = await granted(bench().engine, ANN, { itemId, ttlSeconds: 60, start: true });
    await pass(LAPSE_MS);
    const next = await granted(bench().engine, BOB, { itemId, ttlSeconds: 60, start: true });
    expect(next).toMatchObject({ attempt: 2, started: true, item: { role: "work" } });
    const before = await state(itemId);
    for (const late of [{ fence: lost.fence }, {}]) {
      expect(await advance(bench().engine, ANN, { itemId, trigger: "complete", ...late })).toMatchObject({
        applied: false,
        errorCode: "claim_lost",
      });
    }
    expect(await refresh(bench().engine, ANN, { itemId, fence: lost.fence })).toMatchObject({
      outcome: "claim_lost",
    });
    expect(await state(itemId)).toEqual(before);
    expect(
      await advance(bench().engine, BOB, { itemId, trigger: "complete", fence: next.fence }),
    ).toMatchObject({ applied: true });
    expect(await tenures(itemId)).toEqual(["ann-1: expired", "bob-1: completed"]);
  });

  it("after the last allowed attempt an item is dead: not offered, not claimed, not resumed by agents [B53]", async () => {
    const itemId = await plant({ attempts: 4 });
    await granted(bench().engine, ANN, { itemId, ttlSeconds: 60, start: true });
    await pass(LAPSE_MS);
    expect(await refused(bench().engine, BOB, { itemId })).toMatchObject({
      outcome: "item_dead",
      kind: "permanent",
    });
    expect(await state(itemId)).toMatchObject({
      role: "blocked",
      dead: true,
      status_label: "dead",
      attempts: 5,
      agent: null,
    });
    expect(await advance(bench().engine, BOB, { itemId, trigger: "resume" })).toMatchObject({
      errorCode: "item_dead",
    });
    const { db } = bench().database;
    const said = await db
      .selectFrom("transitions")
      .selectAll()
      .where("item_id", "=", itemId)
      .orderBy("id")
      .execute();
    expect(said.at(-1)).toMatchObject({
      trigger: "expire",
      to_role: "blocked",
      summary: expect.stringMatching(/last allowed/) as unknown,
    });
  });

  it("a stable name does not carry over a lapse: its own re-claim is a new tenure, and the old fence is refused [F-03]", async () => {
    const itemId = await plant();
    const first = await granted(bench().engine, ANN, { itemId, ttlSeconds: 60, start: true });
    await pass(LAPSE_MS);
    const second = await granted(bench().engine, ANN, { itemId, ttlSeconds: 60 });
    expect(second.fence).toBeGreaterThan(first.fence);
    expect(second).toMatchObject({ attempt: 2 });
    expect(second).not.toHaveProperty("originalClaimedAt");
    expect(
      await advance(bench().engine, ANN, { itemId, trigger: "complete", fence: first.fence }),
    ).toMatchObject({
      errorCode: "claim_lost",
    });
    expect(await tenures(itemId)).toEqual(["ann-1: expired", "ann-1: open"]);
    await release(bench().engine, ANN, { itemId });
  });

  it("a lapsed holder may renew for as long as nobody took the item", async () => {
    const itemId = await plant();
    const { fence } = await granted(bench().engine, ANN, { itemId, ttlSeconds: 60 });
    await pass(LAPSE_MS);
    expect(await refresh(bench().engine, ANN, { itemId, fence })).toMatchObject({
      outcome: "success",
      fence,
    });
    expect(await refused(bench().engine, BOB, { itemId })).toMatchObject({ outcome: "already_claimed" });
    await release(bench().engine, ANN, { itemId });
  });

  it("nobody holds an item for longer than a day, however lively: then the tenure is over", async () => {
    const itemId = await plant();
    const { fence } = await granted(bench().engine, ANN, { itemId, ttlSeconds: 50_000 });
    await pass(40_000_000);
    const capped = await refresh(bench().engine, ANN, { itemId, fence });
    expect(capped).toMatchObject({ outcome: "success" });
    expect(capped.msLeft).toBeLessThanOrEqual(46_400_000);
    await pass(46_400_000);
    expect(await refresh(bench().engine, ANN, { itemId, fence })).toMatchObject({ outcome: "tenure_over" });
    await release(bench().engine, ANN, { itemId });
  });

  it("a ttl that the holder shortens holds for every replica that remembers the longer one", async () => {
    const itemId = await plant();
    const { fence } = await granted(bench().engine, ANN, { itemId, ttlSeconds: 900 });
    await granted(bench().engine, ANN, { itemId, ttlSeconds: 10 });
    const beat = await refresh(bench().engine, ANN, { itemId, fence });
    expect(beat).toMatchObject({ outcome: "success" });
    expect(beat.msLeft).toBeLessThanOrEqual(10_000);
    await release(bench().engine, ANN, { itemId });
  });

  it("a heartbeat for what is not there or not one's own answers so, and takes nothing", async () => {
    const itemId = await plant();
    expect(await refresh(bench().engine, ANN, { itemId: randomUUID(), fence: 1 })).toMatchObject({
      outcome: "not_found",
    });
    expect(await refresh(bench().engine, ANN, { itemId, fence: 1 })).toMatchObject({ outcome: "claim_lost" });
    expect(await state(itemId)).toMatchObject({ agent: null });
  });

  it("work whose holder lapsed keeps the sweep waiting for a third of its ttl, and is then handed back", async () => {
    const itemId = await plant();
    await granted(bench().engine, ANN, { itemId, ttlSeconds: 60, start: true });
    const sweep = () => bench().engine.engine.sweep(new AbortController().signal);
    await pass(70_000);
    await sweep();
    expect(await state(itemId)).toMatchObject({ agent: "ann" });
    await pass(10_001);
    await sweep();
    expect(await state(itemId)).toMatchObject({ agent: null, role: "queue", attempts: 1 });
    expect(await tenures(itemId)).toEqual(["ann-1: expired"]);
  });
});
