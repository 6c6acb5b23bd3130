import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { WorkerStopped } from "../../../services/worker-sdk/errors.ts";
import { complete } from "../../../services/worker-sdk/outcome.ts";
import { startFakeMuster } from "../../support/fake-muster/fake-muster.ts";
import { aborted, startWorker } from "../../support/fake-muster/started-worker.ts";
import { startWorkerProcess } from "../../support/fake-muster/worker-program.ts";

describe("stopping a worker", () => {
  it("lets a handler end within the grace, hands its item in, and claims nothing more", async () => {
    await using fake = await startFakeMuster();
    const [first, second] = [fake.fleet.add("first"), fake.fleet.add("second")];
    const going = Promise.withResolvers<void>();
    const { worker, saw } = startWorker(fake, { graceMs: 5_000, handler: () => going.promise });
    await saw("claimed");
    const stopped = worker.stop();
    going.resolve();
    await stopped;
    expect([first.role, second.role]).toEqual(["terminal", "queue"]);
    expect(fake.calls.map(({ what }) => what)).toEqual(["claim", "complete"]);
    expect(fake.calls[1]?.input).not.toHaveProperty("claimNext");
  });

  it("aborts a handler when the grace is over and hands its item back without failing it", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("long");
    let reason: unknown;
    const { worker, saw } = startWorker(fake, {
      graceMs: 50,
      async handler(_item, { signal }) {
        reason = await aborted(signal);
        throw reason;
      },
    });
    await saw("claimed");
    await worker.stop();
    expect(reason).toBeInstanceOf(WorkerStopped);
    expect(item).toMatchObject({ role: "queue", holder: null, failures: [] });
  });

  it("accepts a result that the handler reached although it was told to stop", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("nearly");
    const { worker, saw } = startWorker(fake, {
      graceMs: 0,
      handler: (_item, { signal }) => aborted(signal).then(() => complete()),
    });
    await saw("claimed");
    await worker.stop();
    expect(item.role).toBe("terminal");
  });

  it("hands an item back within two seconds although its handler ignores the signal", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("deaf");
    const { worker, saw } = startWorker(fake, { handler: () => new Promise(() => {}) });
    await saw("claimed");
    const startedAt = performance.now();
    await worker.stop();
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    expect(item).toMatchObject({ role: "queue", holder: null });
  });

  it("hangs up an open wait at once", async () => {
    await using fake = await startFakeMuster();
    const { worker } = startWorker(fake, { slots: 3, handler: () => {} });
    await fake.seen(() => fake.calls.filter(({ what }) => what === "claim").length === 3);
    const startedAt = performance.now();
    await worker.stop();
    expect(performance.now() - startedAt).toBeLessThan(500);
  });

  it("gives back a claim that was granted in the instant it hung up", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("unlucky");
    fake.fault = () => (fake.calls.length === 0 ? { kind: "hang", acted: true } : undefined);
    const { worker } = startWorker(fake, { handler: () => {} });
    await fake.fleet.until(() => item.holder !== null);
    await worker.stop();
    expect(item).toMatchObject({ role: "queue", holder: null, attempt: 1 });
    expect(fake.calls.map(({ what }) => what)).toEqual(["claim", "claim", "release"]);
  });

  it("ends all slots when one of them cannot go on, and hands the others' items back", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("held");
    fake.fault = ({ what }) =>
      what === "claim" && item.holder !== null ? { kind: "refuse", code: "rejected_by_policy" } : undefined;
    const { ended } = startWorker(fake, {
      slots: 2,
      graceMs: 0,
      async handler(_item, { signal }) {
        throw await aborted(signal);
      },
    });
    await expect(ended).rejects.toMatchObject({ code: "rejected_by_policy" });
    expect(item).toMatchObject({ role: "queue", holder: null });
  });
});

describe("a worker process", () => {
  it("keeps its claim through a handler that blocks the event loop for three ttls, and warns afterwards [F-08]", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("spins");
    await using process = startWorkerProcess(fake.url, { kind: "spin", ms: 3_000 }, { untilEmpty: true });
    expect(await process.saw("handled")).toMatchObject({ aborted: false });
    expect(await process.exited).toBe(0);
    expect(await process.saw("event_loop_blocked")).toMatchObject({
      blockedMs: expect.closeTo(2_700, -3) as number,
    });
    expect(item).toMatchObject({ role: "terminal", attempt: 1 });
  });

  it("makes its item claimable within two seconds of SIGTERM, and exits by itself", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("held");
    await using process = startWorkerProcess(fake.url, { kind: "ignore" }, { ttlSeconds: 60 });
    await process.saw("claimed");
    const signalledAt = performance.now();
    process.child.kill("SIGTERM");
    await fake.fleet.until(() => item.holder === null);
    expect(performance.now() - signalledAt).toBeLessThan(2_000);
    expect(item.role).toBe("queue");
    expect(await process.exited).toBe(0);
  });

  it("exits at once on a second signal", async () => {
    await using fake = await startFakeMuster();
    fake.fleet.add("held");
    await using process = startWorkerProcess(fake.url, { kind: "ignore" }, { graceMs: 60_000 });
    await process.saw("claimed");
    process.child.kill("SIGTERM");
    await process.saw("stopping");
    process.child.kill("SIGTERM");
    expect(await process.exited).toBe(128 + 15);
  });

  it("sends no heartbeats after it was killed, so that its item lapses", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("orphaned");
    await using process = startWorkerProcess(fake.url, { kind: "obey" });
    await process.saw("renewed");
    process.child.kill("SIGKILL");
    await process.exited;
    const before = fake.calls.length;
    await delay(Math.max(0, item.expiresAtMs - Date.now()) + 100);
    expect(fake.calls.length).toBe(before);
    const { worker, saw } = startWorker(fake, { handler: () => {} });
    expect(await saw("completed")).toMatchObject({ itemId: item.id, fence: 2 });
    await worker.stop();
  });

  it("stops renewing while it is frozen, and stops working when it thaws after its ttl [F-02]", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("frozen");
    await using process = startWorkerProcess(fake.url, { kind: "obey" });
    await process.saw("renewed");
    process.child.kill("SIGSTOP");
    await delay(Math.max(0, item.expiresAtMs - Date.now()) + 200);
    const { worker, saw } = startWorker(fake, { handler: () => {} });
    expect(await saw("completed")).toMatchObject({ itemId: item.id, fence: 2 });
    await worker.stop();
    process.child.kill("SIGCONT");
    expect(await process.saw("handled")).toMatchObject({ aborted: true });
    expect(item).toMatchObject({ role: "terminal", attempt: 2 });
  });
});
