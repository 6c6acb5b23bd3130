/** Claims that an operator ends. */
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import type { ClaimGranted } from "../../../services/contract/claiming.ts";
import { worker } from "../../support/engine.ts";
import { plantItem } from "../../support/fixtures.ts";
import { describeDesk } from "./desk.ts";

describeDesk("revoking claims", (desk) => {
  const hold = async (agent: string, title: string, start = true): Promise<ClaimGranted> => {
    const itemId = await plantItem(desk().database.db, { title });
    return (await desk().claim(agent, { itemId, start })) as ClaimGranted;
  };
  const stateOf = async (itemId: string) =>
    await desk()
      .database.db.selectFrom("item_state")
      .select(["role", "agent", "fence", "attempts"])
      .where("item_id", "=", itemId)
      .executeTakeFirstOrThrow();

  it("ends the attempt as revoked, puts work back into the queue, counts nothing against it, and is audited with its reason [P-11]", async () => {
    const { itemId, fence } = await hold("ada", "wanted back");
    expect(await desk().operate("revoke_claims", { itemIds: [itemId] })).toEqual({
      revoked: [{ itemId, title: "wanted back", role: "queue", fence, requeued: true }],
      matched: 1,
      failed: 0,
      hasMore: false,
    });
    expect(await stateOf(itemId)).toEqual({ role: "queue", agent: null, fence: fence + 1, attempts: 0 });
    const { attempts } = await desk().ask("list_attempts", { itemId });
    expect(attempts).toMatchObject([
      { agent: "ada", fence, endReason: "revoked", detail: "the host is gone" },
    ]);
    const audit = await desk()
      .database.db.selectFrom("audit_log")
      .select(["action", "agent", "item_id", "data"])
      .where("action", "=", "claim.revoked")
      .execute();
    expect(audit).toEqual([
      {
        action: "claim.revoked",
        agent: "olga",
        item_id: itemId,
        data: { agent: "ada", fence, reason: "the host is gone" },
      },
    ]);
  });

  it("only clears a claim on what nobody has started yet", async () => {
    const { itemId } = await hold("ada", "not begun", false);
    expect(await desk().operate("revoke_claims", { itemIds: [itemId] })).toMatchObject({
      revoked: [{ itemId, role: "queue", requeued: false }],
    });
  });

  it("tells the holder claim_lost at the next call, on every door, until it claims again [S15]", async () => {
    const { itemId, fence } = await hold("ada", "taken away");
    await desk().operate("revoke_claims", { itemIds: [itemId] });
    const who = { actor: worker("ada"), workerId: "ada-session" };
    expect(await desk().beat("ada", itemId, fence)).toMatchObject({ outcome: "claim_lost" });
    expect(await desk().advance({ itemId, trigger: "complete" }, "ada")).toMatchObject({
      applied: false,
      errorCode: "claim_lost",
    });
    const { releases } = await desk().ask("claim_item", {
      ...who,
      requestId: randomUUID(),
      releases: [{ itemId }],
    });
    expect(releases).toMatchObject([{ outcome: "claim_lost" }]);
    const lost = { failed: 1, failures: [{ errorCode: "claim_lost" }] };
    expect(
      await desk().ask("manage_notes", {
        operation: "upsert",
        notes: [{ itemId, key: "k", body: "late", role: "work" }],
        ...who,
      }),
    ).toMatchObject(lost);
    expect(
      await desk().ask("manage_items", {
        operation: "update",
        items: [{ itemId, title: "late" }],
        ...who,
      }),
    ).toMatchObject(lost);
    expect(
      await desk().ask("manage_items", { operation: "delete", itemIds: [itemId], ...who }),
    ).toMatchObject(lost);
    expect(await desk().claim("ada", { itemId, start: true })).toMatchObject({ outcome: "success" });
    expect(await desk().advance({ itemId, trigger: "complete" }, "ada")).toMatchObject({ applied: true });
  });

  it("takes all that a filter means, says beforehand how many that is, and leaves the others alone", async () => {
    const [one, two] = [await hold("ada", "one"), await hold("ada2", "two")];
    const other = await hold("bob", "other");
    await desk().claim("ada", { itemId: one.itemId });
    expect(await desk().operate("revoke_claims", { agent: "ada", dryRun: true })).toEqual({
      revoked: [],
      matched: 1,
      failed: 0,
      hasMore: false,
      dryRun: true,
    });
    expect((await stateOf(one.itemId)).agent).toBe("ada");
    expect(await desk().operate("revoke_claims", { agent: "ada" })).toMatchObject({
      revoked: [{ itemId: one.itemId }],
      matched: 1,
    });
    expect([(await stateOf(two.itemId)).agent, (await stateOf(other.itemId)).agent]).toEqual(["ada2", "bob"]);
    expect(await desk().operate("revoke_claims", { all: true })).toMatchObject({ matched: 2, failed: 0 });
  });

  it("does each by itself: what nobody holds fails, and stops no other", async () => {
    const held = await hold("ada", "held");
    const free = await plantItem(desk().database.db);
    const absent = randomUUID();
    const done = await desk().operate("revoke_claims", { itemIds: [free, absent, held.itemId] });
    expect(done).toMatchObject({
      matched: 3,
      failed: 2,
      failures: [
        { index: 0, id: free, errorCode: "CONFLICT_ERROR" },
        { index: 1, id: absent, errorCode: "RESOURCE_NOT_FOUND" },
      ],
      revoked: [{ itemId: held.itemId }],
    });
  });

  it("repeated with its requestId it answers what it did, and takes nothing from whoever came next", async () => {
    const { itemId } = await hold("ada", "again");
    const requestId = randomUUID();
    const first = await desk().operate("revoke_claims", { agent: "ada", requestId });
    await desk().claim("bob", { itemId });
    await hold("ada", "newer");
    expect(await desk().operate("revoke_claims", { agent: "ada", requestId })).toEqual({
      ...first,
      replayed: true,
    });
    expect((await stateOf(itemId)).agent).toBe("bob");
  });

  it("refuses a call that names no set, or two, and one without a reason", async () => {
    const refused = { code: "VALIDATION_ERROR" };
    await expect(desk().operate("revoke_claims", {})).rejects.toMatchObject(refused);
    await expect(
      desk().operate("revoke_claims", { itemIds: [randomUUID()], agent: "ada" }),
    ).rejects.toMatchObject(refused);
    await expect(desk().operate("revoke_claims", { all: true, reason: " " })).rejects.toMatchObject(refused);
  });
});
