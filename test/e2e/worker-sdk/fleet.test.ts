/** The package against the real server: engine, embedded database and HTTP in this process, workers beside it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { runCommandWorker } from "../../../services/worker-sdk/command-worker.ts";
import { createClient } from "../../../services/worker-sdk/client.ts";
import { aborted, startWorker } from "../../support/fake-muster/started-worker.ts";
import { startWorkerProcess } from "../../support/fake-muster/worker-program.ts";
import { plantEdge } from "../../support/fixtures.ts";
import { startLink, startRealMuster } from "./real-muster.ts";

const agent = { id: "worker", kind: "subagent" } as const;

describe("workers on the real server", () => {
  it("drain a chain of dependencies in order, each item exactly once", async () => {
    await using muster = await startRealMuster();
    const titles = Array.from({ length: 12 }, (_, index) => `step ${index}`);
    const ids = await muster.plant(titles);
    // Three chains of four: 0 -> 3 -> 6 -> 9 and so on.
    for (const [index, id] of ids.slice(3).entries())
      await plantEdge(muster.database.db, ids[index] ?? "", id);
    const done: number[] = [];
    const { ended } = startWorker(muster, {
      slots: 4,
      untilEmpty: true,
      handler: (item) => void done.push(titles.indexOf(item.title)),
    });
    await ended;
    expect(done.toSorted((a, b) => a - b)).toEqual(titles.map((_, index) => index));
    for (const index of done.filter((each) => each >= 3))
      expect(done.indexOf(index - 3)).toBeLessThan(done.indexOf(index));
    for (const id of ids) expect(await muster.ends(id)).toEqual(["completed"]);
  });

  it("keep a claim through a handler that blocks its event loop for three ttls [F-08]", async () => {
    await using muster = await startRealMuster();
    const [id = ""] = await muster.plant(["spins"]);
    await using process = startWorkerProcess(muster.url, { kind: "spin", ms: 3_000 }, { untilEmpty: true });
    await process.saw("claimed");
    const rival = startWorker(muster, { ttlSeconds: 30, handler: () => {} });
    expect(await process.saw("handled")).toMatchObject({ aborted: false });
    expect(await process.exited).toBe(0);
    await rival.worker.stop();
    expect(await muster.ends(id)).toEqual(["completed"]);
  });

  it("renew many times without changing the item [F-09]", async () => {
    await using muster = await startRealMuster();
    const [id = ""] = await muster.plant(["steady"]);
    const client = createClient({ url: muster.url, agent });
    const { claim } = await client.claim({ selector: {}, start: true });
    if (claim.outcome !== "success") throw new Error(claim.error);
    const before = await muster.planner.call("query_items", { operation: "get", itemId: id });
    for (let round = 0; round < 100; round += 1) {
      const { results } = await client.refresh([{ itemId: id, fence: claim.fence }]);
      expect(results).toMatchObject([{ outcome: "success" }]);
    }
    const after = await muster.planner.call("query_items", { operation: "get", itemId: id });
    expect(after).toEqual(before);
    client.close();
  });

  it("lose nothing in an outage of 500 ms [F-07]", async () => {
    await using muster = await startRealMuster();
    await using link = await startLink(muster.url);
    const [id = ""] = await muster.plant(["steady"]);
    const { ended, events, saw } = startWorker(link, {
      ttlSeconds: 2,
      untilEmpty: true,
      async handler(_item, { signal }) {
        await saw("renewed");
        link.cut();
        // The outage itself: real sockets and a real thread have no clock to move.
        await delay(500);
        link.mend();
        // Long enough in real time for the window of the last renewal to close.
        await delay(2_000, undefined, { signal });
      },
    });
    await ended;
    expect(events.filter(({ type }) => type === "lost")).toEqual([]);
    expect(await muster.ends(id)).toEqual(["completed"]);
  });

  it("abort before anybody else is given their item when the server cannot be reached", async () => {
    await using muster = await startRealMuster();
    await using link = await startLink(muster.url);
    const [id = ""] = await muster.plant(["cut off"]);
    const order: string[] = [];
    const cutOff = startWorker(link, {
      ttlSeconds: 1,
      async handler(_item, { signal }) {
        await cutOff.saw("renewed");
        link.cut();
        const reason = await aborted(signal);
        order.push("aborted");
        throw reason;
      },
    });
    await cutOff.saw("renewed");
    const rival = startWorker(muster, { handler: () => void order.push("taken over") });
    await rival.saw("completed");
    expect(order).toEqual(["aborted", "taken over"]);
    expect(await cutOff.saw("lost")).toMatchObject({ lossCause: "trust_lapsed" });
    link.mend();
    await Promise.all([cutOff.worker.stop(), rival.worker.stop()]);
    expect(await muster.ends(id)).toEqual(["expired", "completed"]);
  });

  it("make an item claimable within two seconds of SIGTERM", async () => {
    await using muster = await startRealMuster();
    const [id = ""] = await muster.plant(["held"]);
    await using process = startWorkerProcess(muster.url, { kind: "ignore" }, { ttlSeconds: 60 });
    await process.saw("claimed");
    const next = createClient({ url: muster.url, agent: { id: "next", kind: "subagent" } });
    const waiting = next.claim({ selector: {}, waitSeconds: 20, start: true });
    const signalledAt = performance.now();
    process.child.kill("SIGTERM");
    expect(await waiting).toMatchObject({ claim: { outcome: "success", itemId: id } });
    expect(performance.now() - signalledAt).toBeLessThan(2_000);
    expect(await process.exited).toBe(0);
    expect(await muster.ends(id)).toEqual(["released", null]);
    next.close();
  });

  it("take over from one that was killed, once its ttl is over", async () => {
    await using muster = await startRealMuster();
    const [id = ""] = await muster.plant(["orphaned"]);
    await using process = startWorkerProcess(muster.url, { kind: "obey" });
    await process.saw("renewed");
    process.child.kill("SIGKILL");
    const { saw, worker } = startWorker(muster, { handler: () => {} });
    expect(await saw("completed")).toMatchObject({ itemId: id });
    await worker.stop();
    expect(await muster.ends(id)).toEqual(["expired", "completed"]);
  });

  it("stop working when they thaw after another one took over [F-02]", async () => {
    await using muster = await startRealMuster();
    const [id = ""] = await muster.plant(["frozen"]);
    await using process = startWorkerProcess(muster.url, { kind: "obey" });
    await process.saw("renewed");
    process.child.kill("SIGSTOP");
    const { saw, worker } = startWorker(muster, { handler: () => {} });
    expect(await saw("completed")).toMatchObject({ itemId: id });
    process.child.kill("SIGCONT");
    expect(await process.saw("handled")).toMatchObject({ aborted: true });
    await worker.stop();
    expect(await muster.ends(id)).toEqual(["expired", "completed"]);
  });

  it("leave nothing claimed when they are stopped while waiting", async () => {
    await using muster = await startRealMuster();
    const { worker } = startWorker(muster, { slots: 3, handler: () => {} });
    const [id = ""] = await muster.plant(["late"]);
    await worker.stop();
    const row = await muster.database.db
      .selectFrom("item_state")
      .select("agent")
      .where("item_id", "=", id)
      .executeTakeFirstOrThrow();
    expect(row.agent).toBeNull();
  });
});

describe("programs on the real server", () => {
  async function runScript(url: string, script: string) {
    return runCommandWorker({
      url,
      agent,
      command: "sh",
      args: ["-c", script],
      untilEmpty: true,
      handleSignals: false,
      onLine() {},
      log: { info() {}, warn() {}, error() {} },
    });
  }

  it("exit 0 completes an item without a review phase", async () => {
    await using muster = await startRealMuster();
    const [id = ""] = await muster.plant(["build"]);
    expect(await runScript(muster.url, "cat >/dev/null; exit 0")).toMatchObject({ completed: 1 });
    expect([await muster.roleOf(id), await muster.ends(id)]).toEqual(["terminal", ["completed"]]);
  });

  it("exit 75 hands it back and counts no attempt", async () => {
    await using muster = await startRealMuster();
    const [id = ""] = await muster.plant(["later"]);
    const folder = await mkdtemp(join(tmpdir(), "muster-later-"));
    const script = `cd "${folder}"; [ -e seen ] && exit 0; touch seen; exit 75`;
    expect(await runScript(muster.url, script)).toMatchObject({ completed: 1, handedBack: 1, failed: 0 });
    await rm(folder, { recursive: true });
    expect(await muster.ends(id)).toEqual(["released", "completed"]);
  });

  it("exit 1 fails the attempt with the last lines of stderr, and the last attempt ends the item", async () => {
    await using muster = await startRealMuster({
      maxAttempts: 2,
      backoff: { firstMs: 10, factor: 1, maxMs: 10 },
    });
    const [id = ""] = await muster.plant(["broken"]);
    expect(await runScript(muster.url, `echo "what went wrong" >&2; exit 1`)).toMatchObject({
      failed: 2,
      completed: 0,
    });
    expect(await muster.ends(id)).toEqual(["failed", "failed"]);
    const attempts = await muster.database.db
      .selectFrom("attempts")
      .select("detail")
      .where("item_id", "=", id)
      .execute();
    for (const { detail } of attempts) expect(detail).toBe("sh exited with 1\nwhat went wrong");
  });

  it("exit 0 moves an item with a review phase into its review, free for whoever reviews", async () => {
    await using muster = await startRealMuster({ hasReviewPhase: true });
    const [id = ""] = await muster.plant(["reviewed"]);
    expect(await runScript(muster.url, "exit 0")).toMatchObject({ completed: 1 });
    expect(await muster.roleOf(id)).toBe("review");
    const reviewer = createClient({ url: muster.url, agent: { id: "reviewer", kind: "subagent" } });
    expect(await reviewer.claim({ selector: { role: "review" } })).toMatchObject({ claim: { itemId: id } });
    reviewer.close();
  });
});
