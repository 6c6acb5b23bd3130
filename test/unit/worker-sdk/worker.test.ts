import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { complete, fail, handBack } from "../../../services/worker-sdk/outcome.ts";
import { startFakeMuster } from "../../support/fake-muster/fake-muster.ts";
import { agent, startWorker } from "../../support/fake-muster/started-worker.ts";

describe("worker", () => {
  it("drains the queue: each item is finished and the next one taken in one call", async () => {
    await using fake = await startFakeMuster();
    const titles = ["a", "b", "c", "d"];
    for (const title of titles) fake.fleet.add(title);
    const seen: string[] = [];
    const { ended } = startWorker(fake, { untilEmpty: true, handler: (item) => void seen.push(item.title) });
    await ended;
    expect(seen).toEqual(titles);
    expect(fake.fleet.items.map(({ role, attempt }) => [role, attempt])).toEqual(
      titles.map(() => ["terminal", 1]),
    );
    // One claim that finds the first item, one that finds nothing more.
    expect(fake.calls.map(({ what }) => what)).toEqual([
      "claim",
      "complete",
      "complete",
      "complete",
      "complete",
      "claim",
    ]);
  });

  it("works on as many items at once as it has slots, each under its own workerId [P-06]", async () => {
    await using fake = await startFakeMuster();
    for (let index = 0; index < 6; index += 1) fake.fleet.add(`item ${index}`);
    const workerIds = new Set<string>();
    const allIn = Promise.withResolvers<void>();
    const { ended } = startWorker(fake, {
      slots: 3,
      untilEmpty: true,
      async handler(_item, { workerId }) {
        workerIds.add(workerId);
        if (workerIds.size === 3) allIn.resolve();
        await allIn.promise;
      },
    });
    await ended;
    expect(fake.fleet.items.every(({ role, attempt }) => role === "terminal" && attempt === 1)).toBe(true);
    expect(
      new Set(fake.calls.filter(({ what }) => what === "claim").map(({ input }) => input["workerId"])),
    ).toEqual(workerIds);
  });

  it("gives the handler its item, its fence, its attempt and a client that speaks for it", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("only", { attempt: 2 });
    const { ended } = startWorker(fake, {
      untilEmpty: true,
      async handler(given, context) {
        expect(given).toMatchObject({ id: item.id, title: "only" });
        expect(context).toMatchObject({ item: given, fence: 1, attempt: 3, workerId: item.holder?.session });
        expect(context.client.workerId).toBe(context.workerId);
        expect(context.msLeft()).toBeGreaterThan(20_000);
        await context.client.call("query_items", { operation: "search" });
      },
    });
    await ended;
    expect(item.failures).toEqual([]);
    expect(item.role).toBe("terminal");
  });

  it("waits on the server while there is nothing to do, with one call", async () => {
    await using fake = await startFakeMuster();
    const { saw, ended, worker } = startWorker(fake, { handler: () => complete({ summary: "done" }) });
    await fake.seen(({ what }) => what === "claim");
    fake.fleet.add("late");
    await saw("completed");
    await worker.stop();
    await ended;
    expect(fake.calls.filter(({ what }) => what === "claim").length).toBeLessThanOrEqual(3);
    expect(fake.calls.find(({ what }) => what === "complete")?.input).toMatchObject({
      transitions: [{ summary: "done" }],
    });
  });

  it("reports a failed attempt with its evidence and its class", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("flaky");
    const { ended } = startWorker(fake, {
      untilEmpty: true,
      handler: (_item, { attempt }) => (attempt === 1 ? fail("network down", "environment") : complete()),
    });
    await ended;
    expect(item.failures).toEqual([{ reason: "network down", class: "environment" }]);
    expect(item.role).toBe("terminal");
  });

  it("takes a thrown error for a failed attempt of the item, and bounds its text", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("throws");
    const { ended } = startWorker(fake, {
      untilEmpty: true,
      handler(_item, { attempt }) {
        if (attempt === 1)
          throw new Error(`boom ${"x".repeat(10_000)}`, { cause: new Error("the real reason") });
      },
    });
    await ended;
    expect(item.failures[0]?.class).toBe("item");
    expect(item.failures[0]?.reason).toContain("the real reason");
    expect(item.failures[0]?.reason?.length).toBeLessThanOrEqual(4_000);
  });

  it("hands an item back into the queue without failing it, and does not spin on it", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("later");
    const starts: number[] = [];
    const { ended } = startWorker(fake, {
      untilEmpty: true,
      handler() {
        starts.push(performance.now());
        return starts.length < 3 ? handBack("not yet") : complete();
      },
    });
    await ended;
    expect(
      fake.calls.filter(({ what }) => what === "release").map(({ input }) => input["releases"]),
    ).toMatchObject([
      [{ itemId: item.id, fence: 1, requeue: true }],
      [{ itemId: item.id, fence: 3, requeue: true }],
    ]);
    const [first = 0, second = 0, third = 0] = starts;
    expect(second - first).toBeGreaterThan(120);
    expect(third - second).toBeGreaterThan(240);
    expect(item.failures).toEqual([]);
  });

  it("moves an item to its review and lets go of it, when it finishes with start", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("reviewed", { hasReview: true });
    const { worker, saw } = startWorker(fake, { finishWith: "start", handler: () => {} });
    expect(await saw("completed")).toMatchObject({ newRole: "review" });
    await fake.fleet.until(() => item.holder === null);
    await worker.stop();
    expect(item.role).toBe("review");
  });

  it("finishes an item although the answer to that was lost, exactly once", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("only");
    fake.fault = ({ what }) =>
      what === "complete" && item.role !== "terminal" ? { kind: "dropAnswer" } : undefined;
    const { ended, events } = startWorker(fake, { untilEmpty: true, handler: () => {} });
    await ended;
    expect(item).toMatchObject({ role: "terminal", attempt: 1 });
    expect(events.filter(({ type }) => type === "completed")).toHaveLength(1);
  });

  it("keeps finished work through an outage longer than its patience with a single call", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("only");
    let refused = 0;
    fake.fault = ({ what }) =>
      what === "complete" && (refused += 1) <= 5 ? { kind: "http", status: 503 } : undefined;
    const { ended } = startWorker(fake, { untilEmpty: true, retryForMs: 1, handler: () => {} });
    await ended;
    expect(item).toMatchObject({ role: "terminal", attempt: 1 });
  });

  it("goes on through an outage while it waits for items", async () => {
    await using fake = await startFakeMuster();
    let refused = 0;
    fake.fault = ({ what }) => (what === "claim" && (refused += 1) <= 4 ? { kind: "drop" } : undefined);
    const item = fake.fleet.add("only");
    const { ended } = startWorker(fake, { untilEmpty: true, retryForMs: 1, handler: () => {} });
    await ended;
    expect(item.role).toBe("terminal");
  });

  it("ends with the reason when it is not allowed to claim at all", async () => {
    await using fake = await startFakeMuster();
    fake.fault = () => ({ kind: "refuse", code: "rejected_by_policy" });
    const { ended } = startWorker(fake, { slots: 1, handler: () => {} });
    await expect(ended).rejects.toMatchObject({ code: "rejected_by_policy" });
  });

  it("confirms a claim that it waited for longer than half its ttl, before it starts to work", async () => {
    await using fake = await startFakeMuster();
    const { saw, worker } = startWorker(fake, {
      ttlSeconds: 1,
      handler: (_item, { msLeft }) => complete({ summary: String(msLeft()) }),
    });
    await fake.seen(({ what }) => what === "claim");
    await delay(1_100); // Longer than the whole ttl: a window from before the wait would be closed.
    fake.fleet.add("late");
    await saw("completed");
    await worker.stop();
    expect(fake.calls.map(({ what }) => what).slice(0, 3)).toEqual(["claim", "refresh", "complete"]);
    const finished = fake.calls.find(({ what }) => what === "complete");
    const [transition] = (finished?.input["transitions"] ?? []) as { summary: string }[];
    expect(Number(transition?.summary)).toBeGreaterThan(500);
  });

  it("passes its capabilities and its selector with every claim, the next one included", async () => {
    await using fake = await startFakeMuster();
    fake.fleet.add("one");
    const { ended } = startWorker(fake, {
      untilEmpty: true,
      selector: { tags: "build", orderBy: "oldest" },
      capabilities: ["gpu", "linux"],
      handler: () => {},
    });
    await ended;
    const [claim, finish] = fake.calls;
    expect(claim?.input).toMatchObject({
      actor: agent,
      capabilities: "gpu,linux",
      claims: [{ selector: { tags: "build" }, start: true }],
    });
    expect(finish?.input).toMatchObject({
      capabilities: "gpu,linux",
      claimNext: { selector: { tags: "build" }, start: true },
    });
  });
});
