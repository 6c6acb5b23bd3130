/** Trust windows, heartbeats and losses, with the real heartbeat thread and short ttls. */
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ClaimLost } from "../../../services/worker-sdk/errors.ts";
import { complete } from "../../../services/worker-sdk/outcome.ts";
import { startFakeMuster } from "../../support/fake-muster/fake-muster.ts";
import { aborted, startWorker } from "../../support/fake-muster/started-worker.ts";

describe("a held claim", () => {
  it("outlives its ttl for as long as the handler works", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("long");
    const { ended } = startWorker(fake, { ttlSeconds: 1, untilEmpty: true, handler: () => delay(2_500) });
    await ended;
    expect(item).toMatchObject({ role: "terminal", attempt: 1 });
    expect(fake.calls.filter(({ what }) => what === "refresh").length).toBeGreaterThanOrEqual(6);
  });

  it("is kept by one call for all slots", async () => {
    await using fake = await startFakeMuster();
    const items = [fake.fleet.add("a"), fake.fleet.add("b"), fake.fleet.add("c")];
    const { worker } = startWorker(fake, {
      ttlSeconds: 1,
      slots: 3,
      graceMs: 0,
      handler: (_item, { signal }) => aborted(signal).then(() => {}),
    });
    const refresh = await fake.seen(
      ({ input }) => (input["refreshes"] as unknown[] | undefined)?.length === 3,
    );
    expect(refresh.input["refreshes"]).toMatchObject(items.map(({ id }) => ({ itemId: id })));
    await worker.stop();
  });

  it("loses nothing in an outage of 500 ms [F-07]", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("steady");
    const { events, saw, ended } = startWorker(fake, {
      ttlSeconds: 2,
      untilEmpty: true,
      async handler(_item, { signal }) {
        // It begins with a renewal, so that at least one meets it.
        fake.fault = () => ({ kind: "drop" });
        await fake.seen(({ what }) => what === "refresh");
        // The outage itself: real sockets and a real thread have no clock to move.
        await delay(500);
        fake.fault = () => undefined;
        // Long enough in real time for the window of the last renewal to close.
        await delay(1_500, undefined, { signal });
      },
    });
    await ended;
    expect(await saw("heartbeat_failed")).toBeDefined();
    expect(events.filter(({ type }) => type === "lost")).toEqual([]);
    expect(item).toMatchObject({ role: "terminal", attempt: 1 });
  });

  it("aborts before its ttl ends when no renewal gets through, and says why", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("cut off");
    let leftMs = Number.NaN;
    let reason: unknown;
    fake.fault = ({ what }) => (what === "refresh" ? { kind: "drop" } : undefined);
    const { worker, saw } = startWorker(fake, {
      ttlSeconds: 1,
      async handler(_item, { signal, msLeft }) {
        reason = await aborted(signal);
        leftMs = item.expiresAtMs - Date.now();
        expect(msLeft()).toBe(0);
        fake.fault = () => undefined;
        throw reason;
      },
    });
    await saw("handed_back");
    await worker.stop();
    expect(leftMs).toBeGreaterThan(0);
    expect(ClaimLost.is(reason) && reason.lossCause).toBe("trust_lapsed");
    expect(item.failures).toEqual([]);
    expect(item.role).toBe("queue");
  });

  it("aborts at once when somebody else has it, and hands nothing in [F-02]", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("taken");
    let reason: unknown;
    const { worker, saw } = startWorker(fake, {
      ttlSeconds: 3,
      async handler(_item, { signal }) {
        fake.fleet.takeAway(item);
        reason = await aborted(signal);
        return complete();
      },
    });
    const lost = await saw("lost");
    await worker.stop();
    expect(lost).toMatchObject({ itemId: item.id, fence: 1, lossCause: "claim_lost" });
    expect(ClaimLost.is(reason)).toBe(true);
    expect(item.role).toBe("work");
    expect(fake.calls.some(({ what }) => what === "complete" || what === "fail")).toBe(false);
  });

  it("offers finished work to the server although its window closed: the server decides", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("nearly");
    fake.fault = ({ what }) => (what === "refresh" ? { kind: "drop" } : undefined);
    const { ended } = startWorker(fake, {
      ttlSeconds: 1,
      untilEmpty: true,
      handler: (_item, { signal }) => aborted(signal).then(() => complete()),
    });
    await ended;
    expect(item).toMatchObject({ role: "terminal", attempt: 1 });
  });

  it("is never taken for lost by a renewal that crosses its end on the way", async () => {
    await using fake = await startFakeMuster();
    for (let index = 0; index < 40; index += 1) fake.fleet.add(`item ${index}`);
    const { ended, events } = startWorker(fake, {
      ttlSeconds: 1,
      slots: 2,
      untilEmpty: true,
      handler: () => delay(40),
    });
    await ended;
    expect(events.filter(({ type }) => type === "lost" || type === "undelivered")).toEqual([]);
    expect(fake.fleet.items.every(({ role, attempt }) => role === "terminal" && attempt === 1)).toBe(true);
  });
});
