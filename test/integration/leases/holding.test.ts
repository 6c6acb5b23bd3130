/** Leases of claimed items: they live with the claim, go with it, and stand in line with it. */
import { expect, it } from "vitest";
import {
  ann,
  bob,
  cat,
  claim,
  describeYard,
  having,
  history,
  keep,
  LEASE_TTL_SECONDS,
  make,
  move,
} from "./yard.ts";

describeYard("resources of claimed items", (yard) => {
  it("a claim that starts takes them in the same call, and one that cannot is not given", async () => {
    const [first, second] = [await make(yard(), "alpha"), await make(yard(), "alpha")];
    expect(await claim(yard(), ann, { itemId: first, start: true })).toMatchObject({
      outcome: "success",
      started: true,
    });
    const refused = await claim(yard(), bob, { itemId: second, start: true });
    expect(refused).toMatchObject({
      outcome: "resource_unavailable",
      kind: "transient",
      contendedResources: ["alpha"],
    });
    expect(refused.retryAfterMs).toBeLessThanOrEqual(60_000);
    expect(await claim(yard(), bob, { itemId: second })).toMatchObject({ outcome: "success" });
  });

  it("heartbeats keep the lease past its own time, through the clock and without it [B68]", async () => {
    const [first, second] = [await make(yard(), "beat"), await make(yard(), "beat")];
    const { fence } = await claim(yard(), ann, { itemId: first, start: true });
    for (let minutes = 0; minutes * 30 < LEASE_TTL_SECONDS + 120; minutes += 1) {
      await yard().database.advance(30_000);
      expect(await keep(yard(), ann, { refreshes: [{ itemId: first, fence }] })).toMatchObject({
        outcome: "success",
      });
    }
    expect(await move(yard(), null, second, "start")).toMatchObject({ errorCode: "resource_unavailable" });
    expect(await move(yard(), ann, first, "complete")).toMatchObject({ applied: true });
    expect(await history(yard(), "beat")).toMatchObject([
      { releaseReason: "released", acquiredByActorId: "ann" },
    ]);
  });

  it("the claim of somebody who died is ended by whoever needs the resource, and the item goes back to the queue [B65]", async () => {
    const [first, second] = [await make(yard(), "grave"), await make(yard(), "grave")];
    await claim(yard(), ann, { itemId: first, start: true });
    await yard().database.advance(59_000);
    expect(await move(yard(), null, second, "start")).toMatchObject({ errorCode: "resource_unavailable" });
    await yard().database.advance(32_000);
    expect(await move(yard(), null, second, "start")).toMatchObject({ applied: true });
    expect(await roleOf(first)).toBe("queue");
    const [lost] = await history(yard(), "grave");
    expect(lost).toMatchObject({ holderItemId: first, releaseReason: "expired" });
    expect(Date.parse(lost?.releasedAt ?? "") - Date.parse(lost?.acquiredAt ?? "")).toBe(60_000);
    expect(await move(yard(), ann, first, "complete", { fence: 1 })).toMatchObject({
      errorCode: "claim_lost",
    });
    expect(await having(yard(), "grave")).toEqual([second]);
  });

  it("a claim by id too takes what the dead had", async () => {
    const [first, second] = [await make(yard(), "tomb"), await make(yard(), "tomb")];
    await claim(yard(), ann, { itemId: first, start: true });
    await yard().database.advance(91_000);
    expect(await claim(yard(), bob, { itemId: second, start: true })).toMatchObject({ outcome: "success" });
  });

  it("a release that hands the item back lets go, and one that does not leaves the lease its own time", async () => {
    const [first, second] = [await make(yard(), "gamma"), await make(yard(), "gamma")];
    await claim(yard(), ann, { itemId: first, start: true });
    expect(await keep(yard(), ann, { releases: [{ itemId: first, requeue: true }] })).toMatchObject({
      requeued: true,
    });
    expect(await having(yard(), "gamma")).toEqual([]);
    await claim(yard(), ann, { itemId: first, start: true });
    await keep(yard(), ann, { releases: [{ itemId: first }] });
    const refused = await move(yard(), null, second, "start");
    expect(refused.errorCode).toBe("resource_unavailable");
    expect(refused.retryAfterMs).toBeGreaterThan((LEASE_TTL_SECONDS - 5) * 1000);
  });

  it("claiming another item lets go of what the first one had, in time for the second", async () => {
    const [first, second] = [await make(yard(), "delta"), await make(yard(), "delta")];
    await claim(yard(), ann, { itemId: first, start: true });
    expect(await claim(yard(), ann, { itemId: second, start: true })).toMatchObject({ outcome: "success" });
    expect(await having(yard(), "delta")).toEqual([second]);
  });

  it("work that nobody holds is claimed with what it needs, or not at all", async () => {
    const [first, second] = [await make(yard(), "epsilon"), await make(yard(), "epsilon")];
    await move(yard(), null, first, "start");
    await yard().database.advance(LEASE_TTL_SECONDS * 1000);
    await move(yard(), null, second, "start");
    expect(await claim(yard(), ann, { itemId: first })).toMatchObject({
      outcome: "resource_unavailable",
      contendedResources: ["epsilon"],
    });
    await move(yard(), null, second, "complete");
    expect(await claim(yard(), ann, { itemId: first })).toMatchObject({ outcome: "success" });
    expect(await having(yard(), "epsilon")).toEqual([first]);
  });

  it("whoever holds an item waits in line for what it needs, is told the place, and is not overtaken", async () => {
    const [one, two, three] = [
      await make(yard(), "zeta"),
      await make(yard(), "zeta"),
      await make(yard(), "zeta"),
    ];
    await move(yard(), null, one, "start");
    await claim(yard(), ann, { itemId: two });
    await claim(yard(), bob, { itemId: three });
    expect(await move(yard(), ann, two, "start")).toMatchObject({ position: 1 });
    expect(await move(yard(), bob, three, "start")).toMatchObject({ position: 2 });
    await move(yard(), null, one, "complete");
    expect(await move(yard(), bob, three, "start")).toMatchObject({
      errorCode: "resource_unavailable",
      position: 2,
    });
    expect(await move(yard(), ann, two, "start")).toMatchObject({ applied: true });
    expect(await move(yard(), bob, three, "start")).toMatchObject({ position: 1 });
  });

  it("a place in the line is gone with the claim, and somebody who is dead holds nobody up", async () => {
    const [one, two, three] = [
      await make(yard(), "eta"),
      await make(yard(), "eta"),
      await make(yard(), "eta"),
    ];
    await move(yard(), null, one, "start");
    await claim(yard(), ann, { itemId: two });
    await move(yard(), ann, two, "start");
    await move(yard(), null, one, "complete");
    expect(await move(yard(), null, three, "start")).toMatchObject({ errorCode: "resource_unavailable" });
    await yard().database.advance(91_000);
    expect(await move(yard(), null, three, "start")).toMatchObject({ applied: true });
  });

  it("a selector that starts passes over what it could not start, and finds it when the resource is free", async () => {
    const root = await make(yard(), "");
    const [first, second] = [await make(yard(), "theta", root), await make(yard(), "theta", root)];
    const third = await make(yard(), "", root);
    const selector = { ancestorId: root };
    const taken = await claim(yard(), ann, { selector, start: true });
    expect([first, second]).toContain(taken.itemId);
    expect(await claim(yard(), bob, { selector, start: true })).toMatchObject({ itemId: third });
    expect(await claim(yard(), cat, { selector, start: true })).toMatchObject({
      outcome: "none_eligible",
      excluded: { resources: 1 },
    });
    await move(yard(), ann, taken.itemId, "complete");
    const next = await claim(yard(), cat, { selector, start: true });
    expect([first, second]).toContain(next.itemId);
    expect(next.itemId).not.toBe(taken.itemId);
  });

  it("a selector that finds nothing else takes what the dead had", async () => {
    const root = await make(yard(), "");
    const elsewhere = await make(yard(), "iota");
    const wanted = await make(yard(), "iota", root);
    await claim(yard(), ann, { itemId: elsewhere, start: true });
    await yard().database.advance(91_000);
    expect(await claim(yard(), bob, { selector: { ancestorId: root }, start: true })).toMatchObject({
      itemId: wanted,
    });
    expect(await roleOf(elsewhere)).toBe("queue");
  });

  async function roleOf(itemId: string): Promise<string | undefined> {
    const row = await yard()
      .database.db.selectFrom("item_state")
      .select("role")
      .where("item_id", "=", itemId)
      .executeTakeFirst();
    return row?.role;
  }
});
