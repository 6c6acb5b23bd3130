import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { runCommandWorker, type CommandWorkerOptions } from "../../../services/worker-sdk/command-worker.ts";
import type { WorkerEvent } from "../../../services/worker-sdk/events.ts";
import { startFakeMuster, type FakeMuster } from "../../support/fake-muster/fake-muster.ts";

const agent = { id: "runner", kind: "subagent" } as const;

interface Line {
  readonly stream: "stdout" | "stderr";
  readonly itemId: string;
  readonly line: string;
}

/** Runs a shell script per item; `lines` is what it wrote. */
function runScript(fake: FakeMuster, script: string, options: Partial<CommandWorkerOptions> = {}) {
  const lines: Line[] = [];
  const events: WorkerEvent[] = [];
  const stop = new AbortController();
  const watchers = new Set<() => void>();
  const wake = (): void => {
    for (const watcher of watchers) watcher();
  };
  const report = runCommandWorker({
    url: fake.url,
    agent,
    ttlSeconds: 30,
    waitSeconds: 20,
    handleSignals: false,
    log: { info() {}, warn() {}, error() {} },
    command: "sh",
    args: ["-c", script],
    signal: stop.signal,
    onLine(stream, item, line) {
      lines.push({ stream, itemId: item.id, line });
      wake();
    },
    onEvent(event) {
      events.push(event);
      wake();
    },
    ...options,
  });
  report.catch(() => {}); // Tests that care look at it themselves.
  const until = (condition: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!condition()) return;
        watchers.delete(look);
        resolve();
      };
      watchers.add(look);
      look();
    });
  return { lines, events, report, stop, until };
}

/** True while a process with this id runs. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function untilGone(pid: number): Promise<void> {
  while (isAlive(pid)) await delay(5);
}

describe("command worker", () => {
  it("gives the program its item on stdin and who holds it in its environment", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("build the thing", { attempt: 1 });
    const { lines, report } = runScript(fake, `cat; env | grep ^MUSTER_ | sort; echo "to $EXTRA" >&2`, {
      untilEmpty: true,
      env: { EXTRA: "stderr" },
      token: "muster_secret",
    });
    expect(await report).toEqual({ completed: 1, handedBack: 0, failed: 0, lost: 0 });
    const out = lines.filter(({ stream }) => stream === "stdout").map(({ line }) => line);
    expect(JSON.parse(out[0] ?? "")).toMatchObject({ id: item.id, title: "build the thing" });
    const claim = fake.calls.find(({ what }) => what === "claim");
    expect(Object.fromEntries(out.slice(1).map((line) => line.split("=")))).toMatchObject({
      MUSTER_ITEM_ID: item.id,
      MUSTER_FENCE: "1",
      MUSTER_ATTEMPT: "2",
      MUSTER_WORKER_ID: claim?.input["workerId"],
      MUSTER_AGENT: "runner",
      MUSTER_URL: fake.url,
      MUSTER_TOKEN: "muster_secret",
    });
    expect(lines).toContainEqual({ stream: "stderr", itemId: item.id, line: "to stderr" });
  });

  it("exit 0 moves the item on by start, so that its review is not skipped, and lets go of it", async () => {
    await using fake = await startFakeMuster();
    const [plain, reviewed] = [fake.fleet.add("plain"), fake.fleet.add("reviewed", { hasReview: true })];
    const { report } = runScript(fake, "exit 0", { untilEmpty: true, waitSeconds: 1 });
    await fake.fleet.until(() => reviewed.role === "review" && reviewed.holder === null);
    reviewed.role = "terminal";
    await report;
    expect(plain.role).toBe("terminal");
    expect(fake.calls.filter(({ what }) => what === "start")).toHaveLength(2);
  });

  it("exit 75 hands the item back for later, counts no failure, and does not spin on it", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("later");
    const { report, lines } = runScript(
      fake,
      `echo "try $MUSTER_ATTEMPT"; [ "$MUSTER_ATTEMPT" = 3 ] || exit 75`,
      { untilEmpty: true },
    );
    const startedAt = performance.now();
    expect(await report).toEqual({ completed: 1, handedBack: 2, failed: 0, lost: 0 });
    expect(performance.now() - startedAt).toBeGreaterThan(375);
    expect(lines.map(({ line }) => line)).toEqual(["try 1", "try 2", "try 3"]);
    expect(item.failures).toEqual([]);
  });

  it("any other exit fails the attempt with the last lines of stderr as evidence", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("broken");
    const script = `[ "$MUSTER_ATTEMPT" = 2 ] && exit 0; for i in $(seq 2000); do echo "line $i" >&2; done; echo out; exit 3`;
    const { report } = runScript(fake, script, { untilEmpty: true });
    expect(await report).toEqual({ completed: 1, handedBack: 0, failed: 1, lost: 0 });
    const [failure] = item.failures;
    expect(failure?.class).toBe("item");
    expect(failure?.reason).toMatch(/^sh exited with 3\nline \d+\n/);
    expect(failure?.reason).toMatch(/line 1999\nline 2000$/);
    expect(failure?.reason?.length).toBeLessThanOrEqual(4_000);
  });

  it("a program that is killed fails its attempt, and the signal is named", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("killed");
    const { report } = runScript(
      fake,
      `[ "$MUSTER_ATTEMPT" = 2 ] && exit 0; echo "out of memory" >&2; kill -9 $$`,
      { untilEmpty: true },
    );
    await report;
    expect(item.failures).toEqual([{ class: "item", reason: "sh was ended by SIGKILL\nout of memory" }]);
  });

  it("a lost claim ends the program and all that it started, although they ignore SIGTERM", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("taken");
    const script = `trap '' TERM; sh -c 'trap "" TERM; echo $$; while :; do sleep 0.05; done' & echo $$; wait; while :; do sleep 0.05; done`;
    const { lines, events, report, stop, until } = runScript(fake, script, {
      ttlSeconds: 1,
      killGraceMs: 100,
    });
    await until(() => lines.length === 2);
    fake.fleet.takeAway(item);
    await until(() => events.some(({ type }) => type === "lost"));
    await Promise.all(lines.map(({ line }) => untilGone(Number(line))));
    stop.abort();
    expect(await report).toEqual({ completed: 0, handedBack: 0, failed: 0, lost: 1 });
    expect(item.role).toBe("work");
    expect(fake.calls.some(({ what }) => what === "fail" || what === "start")).toBe(false);
  });

  it("a stop ends the program and hands its item back within two seconds", async () => {
    await using fake = await startFakeMuster();
    const item = fake.fleet.add("long");
    const { lines, report, stop, until } = runScript(
      fake,
      `trap '' TERM; echo $$; while :; do sleep 0.05; done`,
    );
    await until(() => lines.length === 1);
    const startedAt = performance.now();
    stop.abort();
    expect(await report).toMatchObject({ handedBack: 1, failed: 0 });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    expect(item).toMatchObject({ role: "queue", holder: null, failures: [] });
    await untilGone(Number(lines[0]?.line));
  });

  it("a program that cannot be started stops the worker instead of failing every item", async () => {
    await using fake = await startFakeMuster();
    const items = [fake.fleet.add("a"), fake.fleet.add("b")];
    const { report } = runScript(fake, "", { command: "no-such-program-here" });
    await expect(report).rejects.toThrow(/Cannot start "no-such-program-here"/);
    expect(items.map(({ role, holder, failures }) => [role, holder, failures.length])).toEqual([
      ["queue", null, 0],
      ["queue", null, 0],
    ]);
  });

  it("does not wait for what the program left in the background", async () => {
    await using fake = await startFakeMuster();
    fake.fleet.add("daemon");
    const { lines, report } = runScript(fake, `sleep 60 & echo $!`, { untilEmpty: true });
    expect(await report).toMatchObject({ completed: 1 });
    process.kill(Number(lines[0]?.line), "SIGKILL");
  });

  it("runs a program that does not read its input", async () => {
    await using fake = await startFakeMuster();
    fake.fleet.add("x".repeat(500_000));
    const { report } = runScript(fake, "exec <&-; exit 0", { untilEmpty: true });
    expect(await report).toMatchObject({ completed: 1 });
  });
});
