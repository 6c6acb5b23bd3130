/** A resource whose holder died: whoever asks gets it at once when its time is up, and is told when that is before. */
import { expect, it } from "vitest";
import { ann, bob, claim, describeYard, having, make, move } from "../integration/leases/yard.ts";

const TTL_SECONDS = 30;

describeYard("a resource whose holder has died", (yard) => {
  it("is taken at the first attempt once its time is up, with no sweep and no wait [S21]", async () => {
    const [dead, next] = [await make(yard(), "port"), await make(yard(), "port")];
    await claim(yard(), ann, { itemId: dead, start: true, ttlSeconds: TTL_SECONDS });
    // Past the ttl, and the grace for a clock that may have lost a heartbeat.
    await yard().database.advance(TTL_SECONDS * 1500);
    expect(await move(yard(), bob, next, "start")).toMatchObject({ applied: true });
    expect(await having(yard(), "port")).toEqual([next]);
  });

  it("while its time runs, the answer says when to come back, and coming back then succeeds [S21]", async () => {
    const [held, next] = [await make(yard(), "socket"), await make(yard(), "socket")];
    await claim(yard(), ann, { itemId: held, start: true, ttlSeconds: TTL_SECONDS });
    const refused = await move(yard(), bob, next, "start");
    expect(refused).toMatchObject({ applied: false, errorCode: "resource_unavailable" });
    expect(refused.retryAfterMs).toBeGreaterThan(0);
    expect(refused.retryAfterMs).toBeLessThanOrEqual(TTL_SECONDS * 1500);
    await yard().database.advance(TTL_SECONDS * 1500);
    expect(await move(yard(), bob, next, "start")).toMatchObject({ applied: true });
  });
});
