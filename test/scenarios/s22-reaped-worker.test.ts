/** A worker whose claim was ended for it goes on as if nothing had happened, and asks for a resource. */
import { expect, it } from "vitest";
import { ann, claim, describeYard, having, make, move } from "../integration/leases/yard.ts";

const TTL_SECONDS = 30;

describeYard("a worker that was reaped", (yard) => {
  it("gets no resource for what it has lost, and one for what it claims anew, which is on record [S22]", async () => {
    const { database, engine } = yard();
    const item = await make(yard(), "bench");
    const first = await claim(yard(), ann, { itemId: item, start: true, ttlSeconds: TTL_SECONDS });
    await database.advance(TTL_SECONDS * 3000);
    await engine.engine.sweep(new AbortController().signal);
    expect(await having(yard(), "bench")).toEqual([]);

    for (const stale of [{ fence: first.fence }, {}]) {
      expect(await move(yard(), ann, item, "start", stale)).toMatchObject({
        applied: false,
        errorCode: "claim_lost",
      });
    }
    expect(await having(yard(), "bench")).toEqual([]);

    const again = await claim(yard(), ann, { itemId: item, start: true });
    expect(again).toMatchObject({ outcome: "success" });
    expect(again.fence).toBeGreaterThan(first.fence);
    expect(await having(yard(), "bench")).toEqual([item]);
    const attempts = await database.db
      .selectFrom("attempts")
      .select(["agent", "fence", "end_reason"])
      .where("item_id", "=", item)
      .orderBy("fence")
      .execute();
    expect(attempts).toEqual([
      { agent: "ann", fence: first.fence, end_reason: "expired" },
      { agent: "ann", fence: again.fence, end_reason: null },
    ]);
  });
});
