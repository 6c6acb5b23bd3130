/** What entering and leaving work takes and lets go of. */
import { sql } from "kysely";
import { expect, it } from "vitest";
import { ann, bob, claim, describeYard, having, history, LEASE_TTL_SECONDS, make, move } from "./yard.ts";

describeYard("resources of items in work", (yard) => {
  it("two items that need one: the second start is told the resource and when to come back, never who has it [B60]", async () => {
    const [first, second] = [await make(yard(), "sixty"), await make(yard(), "sixty")];
    await claim(yard(), ann, { itemId: first });
    expect(await move(yard(), ann, first, "start")).toMatchObject({ applied: true, newRole: "work" });
    const refused = await move(yard(), bob, second, "start");
    expect(refused).toMatchObject({
      applied: false,
      errorCode: "resource_unavailable",
      errorKind: "transient",
      contendedResources: ["sixty"],
    });
    expect(refused.retryAfterMs).toBeGreaterThan(0);
    expect(refused.retryAfterMs).toBeLessThanOrEqual(60_000);
    expect(JSON.stringify(refused)).not.toContain("ann");
    expect(JSON.stringify(refused)).not.toContain(first);
    await move(yard(), ann, first, "block");
    expect(await move(yard(), bob, second, "start")).toMatchObject({ applied: true });
    expect(await having(yard(), "sixty")).toEqual([second]);
  });

  it("one that is taken keeps the others from being taken: all or nothing [B61]", async () => {
    const first = await make(yard(), "kilo");
    const second = await make(yard(), "lima,kilo");
    await move(yard(), null, first, "start");
    expect(await move(yard(), null, second, "start")).toMatchObject({ contendedResources: ["kilo"] });
    expect(await having(yard(), "lima")).toEqual([]);
  });

  it("a block lets go, and the resume after it takes anew [B62]", async () => {
    const item = await make(yard(), "sixtytwo");
    await move(yard(), null, item, "start");
    await move(yard(), null, item, "block");
    expect(await having(yard(), "sixtytwo")).toEqual([]);
    await move(yard(), null, item, "resume");
    expect(await having(yard(), "sixtytwo")).toEqual([item]);
    const intervals = await history(yard(), "sixtytwo");
    expect(intervals.map((one) => one.releaseReason)).toEqual(["released", undefined]);
  });

  it("a start that is refused leaves no lease behind [B63]", async () => {
    const [blocker, item] = [await make(yard(), ""), await make(yard(), "sixtythree")];
    await yard().engine.call("manage_dependencies", {
      operation: "create",
      dependencies: [{ fromItemId: blocker, toItemId: item }],
    });
    expect(await move(yard(), null, item, "start")).toMatchObject({ errorCode: "dependency_blocked" });
    expect(await history(yard(), "sixtythree")).toEqual([]);
  });

  it("a start that fails while it is written leaves no lease behind, and is done when it is sent again [B63]", async () => {
    const item = await make(yard(), "torn");
    const { db } = yard().database;
    await sql`create function refuse_move() returns trigger language plpgsql as
      $$ begin raise exception 'the disk is full' using errcode = '53100'; end $$`.execute(db);
    await sql`create trigger refuse_moves before insert on transitions for each row execute function refuse_move()`.execute(
      db,
    );
    const failed = await move(yard(), null, item, "start");
    await sql`drop trigger refuse_moves on transitions`.execute(db);
    await sql`drop function refuse_move`.execute(db);
    expect(failed).toMatchObject({ applied: false, errorKind: "transient" });
    expect(await having(yard(), "torn")).toEqual([]);
    expect(await history(yard(), "torn")).toEqual([]);
    expect(await move(yard(), null, item, "start")).toMatchObject({ applied: true });
    expect(await having(yard(), "torn")).toEqual([item]);
  });

  it("an advisory one never blocks and is written down with what the caller names [B64]", async () => {
    const [first, second] = [await make(yard(), "wiki-a,main"), await make(yard(), "wiki-a")];
    await move(yard(), null, first, "start", { credentialRefs: ["main"] });
    expect(await move(yard(), null, second, "start")).toMatchObject({ applied: true });
    expect(await consumed(first)).toEqual([["main", "wiki"]]);
    expect(await consumed(second)).toEqual([["wiki"]]);
  });

  it("a caller may name what it likes for an item that declares nothing, and only what is declared for one that does [B64]", async () => {
    const [declares, free] = [await make(yard(), "vault"), await make(yard(), "")];
    const strange = await move(yard(), null, declares, "start", { credentialRefs: ["other"] });
    expect(strange).toMatchObject({ applied: false, errorCode: "validation_failed" });
    expect(strange.error).toContain("vault");
    expect(await move(yard(), null, free, "start", { credentialRefs: "other" })).toMatchObject({
      applied: true,
    });
    expect(await consumed(free)).toEqual([["other"]]);
  });

  it("one whose time is up is stolen, and its interval ends there and stays so [B65]", async () => {
    const [first, second] = [await make(yard(), "sixtyfive"), await make(yard(), "sixtyfive")];
    await move(yard(), null, first, "start");
    await yard().database.advance(LEASE_TTL_SECONDS * 1000 + 5_000);
    expect(await move(yard(), null, second, "start")).toMatchObject({ applied: true });
    const [stolen] = await history(yard(), "sixtyfive");
    expect(stolen).toMatchObject({ holderItemId: first, releaseReason: "expired" });
    expect(Date.parse(stolen?.releasedAt ?? "") - Date.parse(stolen?.acquiredAt ?? "")).toBe(
      LEASE_TTL_SECONDS * 1000,
    );
    await move(yard(), null, first, "complete");
    expect((await history(yard(), "sixtyfive"))[0]).toEqual(stolen);
    expect(await having(yard(), "sixtyfive")).toEqual([second]);
  });

  it("a child goes on when its parent cannot have what it needs, and the answer says so [B67]", async () => {
    const parent = await make(yard(), "sixtyseven");
    const child = await make(yard(), "own", parent);
    const other = await make(yard(), "sixtyseven");
    await move(yard(), null, other, "start");
    const started = await move(yard(), null, child, "start");
    expect(started).toMatchObject({
      applied: true,
      newRole: "work",
      cascadeEvents: [
        {
          itemId: parent,
          applied: false,
          resourceBlocked: true,
          contendedResources: ["sixtyseven"],
          targetRole: "work",
        },
      ],
    });
    expect(await having(yard(), "own")).toEqual([child]);
  });

  it("a parent takes its own with the child's start, and lets go when its last child closes it [B67]", async () => {
    const grandparent = await make(yard(), "top");
    const parent = await make(yard(), "middle", grandparent);
    const child = await make(yard(), "bottom", parent);
    await move(yard(), null, child, "start");
    expect([
      await having(yard(), "top"),
      await having(yard(), "middle"),
      await having(yard(), "bottom"),
    ]).toEqual([[grandparent], [parent], [child]]);
    await move(yard(), null, child, "complete");
    expect([
      await having(yard(), "top"),
      await having(yard(), "middle"),
      await having(yard(), "bottom"),
    ]).toEqual([[], [], []]);
  });

  it("a shared one is had by as many as it has room for", async () => {
    const items = [await make(yard(), "pool-2"), await make(yard(), "pool-2"), await make(yard(), "pool-2")];
    const [one = "", two = "", three = ""] = items;
    await move(yard(), null, one, "start");
    await move(yard(), null, two, "start");
    expect(await move(yard(), null, three, "start")).toMatchObject({ contendedResources: ["pool"] });
    await move(yard(), null, one, "complete");
    expect(await move(yard(), null, three, "start")).toMatchObject({ applied: true });
  });

  it("a deleted item lets go of what it had, and its history stays", async () => {
    const [item, next] = [await make(yard(), "bin"), await make(yard(), "bin")];
    await move(yard(), null, item, "start");
    await yard().engine.call("manage_items", {
      operation: "delete",
      itemIds: [item],
      actor: { id: "ann", kind: "user" },
    });
    expect(await history(yard(), "bin")).toMatchObject([{ holderItemId: item, releaseReason: "released" }]);
    expect(await move(yard(), null, next, "start")).toMatchObject({ applied: true });
  });

  async function consumed(itemId: string): Promise<(string[] | null)[]> {
    const rows = await yard()
      .database.db.selectFrom("transitions")
      .select("consumed_credentials")
      .where("item_id", "=", itemId)
      .orderBy("id")
      .execute();
    return rows.map((row) => row.consumed_credentials);
  }
});
