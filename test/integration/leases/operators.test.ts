/** What operators see of leases, and what becomes of one that they take away. */
import { randomUUID } from "node:crypto";
import type { ExplainItemOutput } from "../../../services/contract/operations/explain-item.ts";
import type { ListLeaseHistoryOutput } from "../../../services/contract/operations/list-lease-history.ts";
import type { ListLeasesOutput } from "../../../services/contract/operations/list-leases.ts";
import { expect, it } from "vitest";
import { ann, bob, claim, describeYard, having, history, keep, make, move } from "./yard.ts";

const olga = { id: "olga", kind: "user" } as const;

describeYard("leases in the hands of operators", (yard) => {
  const take = async (key: string, extra: object = {}): Promise<unknown> => {
    const answer: unknown = await yard().engine.call("release_leases", {
      key,
      reason: "a restore",
      actor: olga,
      ...extra,
    });
    return answer;
  };

  it("a forced release needs a reason, is written down with who and why, and finds nothing the second time [B66]", async () => {
    const item = await make(yard(), "forced");
    await claim(yard(), ann, { itemId: item, start: true });
    await expect(take("forced", { reason: " " })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    expect(await take("forced")).toMatchObject({ resourceKey: "forced", releasedCount: 1, itemIds: [item] });
    await expect(take("forced")).rejects.toMatchObject({ code: "RESOURCE_NOT_FOUND" });
    expect(await history(yard(), "forced")).toMatchObject([
      { releaseReason: "force_released", releasedByActorId: "olga", detail: "a restore" },
    ]);
    const events = await yard()
      .database.db.selectFrom("events")
      .select(["type", "data"])
      .where("item_id", "=", item)
      .where("type", "=", "lease.force_released")
      .execute();
    expect(events).toEqual([{ type: "lease.force_released", data: { keys: ["forced"] } }]);
  });

  it("repeated with its requestId it answers what it did, and takes nothing from whoever came next [B66]", async () => {
    const [first, second] = [await make(yard(), "again"), await make(yard(), "again")];
    const requestId = randomUUID();
    await move(yard(), null, first, "start");
    await take("again", { requestId });
    await move(yard(), null, second, "start");
    expect(await take("again", { requestId })).toMatchObject({ itemIds: [first], replayed: true });
    expect(await having(yard(), "again")).toEqual([second]);
  });

  it("its holder is told at the next heartbeat, though the one before needed no database [B68]", async () => {
    const item = await make(yard(), "told");
    const { fence } = await claim(yard(), ann, { itemId: item, start: true });
    const beat = { refreshes: [{ itemId: item, fence }] };
    expect(await keep(yard(), ann, beat)).not.toHaveProperty("lostResources");
    await take("told");
    expect(await keep(yard(), ann, beat)).toMatchObject({ outcome: "success", lostResources: ["told"] });
  });

  it("its holder is told with the next transition, which applies, and with a claim made again [B68]", async () => {
    const [item, next] = [await make(yard(), "late"), await make(yard(), "late")];
    await claim(yard(), ann, { itemId: item, start: true });
    await take("late");
    expect(await claim(yard(), bob, { itemId: next, start: true })).toMatchObject({ outcome: "success" });
    const again = await claim(yard(), ann, { itemId: item });
    expect(again.warnings).toEqual([expect.stringContaining("late")]);
    expect(await move(yard(), ann, item, "complete")).toMatchObject({
      applied: true,
      lostResources: ["late"],
    });
    expect(await having(yard(), "late")).toEqual([next]);
  });

  it("the list shows who has what until when, and nothing whose time is up", async () => {
    const root = await make(yard(), "");
    const [held, free] = [await make(yard(), "shown-one", root), await make(yard(), "shown-two", root)];
    const { claimExpiresAt } = await claim(yard(), ann, { itemId: held, start: true });
    await move(yard(), null, free, "start");
    const { leases } = (await yard().engine.call("list_leases", { ancestorId: root })) as ListLeasesOutput;
    expect(leases).toMatchObject([
      {
        resourceKey: "shown-one",
        holderItemId: held,
        held: true,
        expiresAt: claimExpiresAt,
        mode: "exclusive",
      },
      { resourceKey: "shown-two", holderItemId: free, held: false },
    ]);
    expect(leases[0]?.acquiredByActorId).toBe("ann");
    expect(leases[0]?.originalAcquiredAt).toBe(leases[0]?.acquiredAt);
    await yard().database.advance(3_600_000);
    expect(await having(yard(), "shown-two")).toEqual([]);
  });

  it("the history tells who had a resource at an instant, one at a time [B65]", async () => {
    const [first, second] = [await make(yard(), "when"), await make(yard(), "when")];
    await move(yard(), null, first, "start");
    await yard().database.advance(10_000);
    await move(yard(), null, first, "complete");
    await yard().database.advance(10_000);
    await move(yard(), null, second, "start");
    const [one, two] = await history(yard(), "when");
    const had = async (at: number): Promise<string[]> => {
      const found = (await yard().engine.call("list_lease_history", {
        key: "when",
        at: new Date(at).toISOString(),
      })) as ListLeaseHistoryOutput;
      return found.intervals.map((interval) => interval.holderItemId);
    };
    const began = Date.parse(one?.acquiredAt ?? "");
    const ended = Date.parse(one?.releasedAt ?? "");
    expect([await had(began - 1), await had(began), await had(ended - 1), await had(ended)]).toEqual([
      [],
      [first],
      [first],
      [],
    ]);
    const began2 = Date.parse(two?.acquiredAt ?? "");
    expect([await had(began2), await had(began2 + 86_400_000)]).toEqual([[second], []]);
  });

  it("explain and the preview of a start say what is taken, as the start does", async () => {
    const [first, second] = [await make(yard(), "seen"), await make(yard(), "seen")];
    await move(yard(), null, first, "start");
    const explained = (await yard().engine.call("explain_item", { itemId: second })) as ExplainItemOutput;
    expect(explained).toMatchObject({ offered: true, reasons: [{ code: "resource_unavailable" }] });
    expect(explained.reasons[0]?.message).toContain("seen");
    expect(await yard().engine.call("get_next_status", { itemId: second })).toMatchObject({
      recommendation: "Blocked",
      reason: "resource_unavailable",
      contendedResources: ["seen"],
    });
    await move(yard(), null, first, "complete");
    expect(await yard().engine.call("get_next_status", { itemId: second })).toMatchObject({
      recommendation: "Ready",
    });
    expect(await yard().engine.call("explain_item", { itemId: second })).toMatchObject({
      offered: true,
      reasons: [],
    });
  });
});
