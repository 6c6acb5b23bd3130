import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { backoffMs } from "../../../services/runtime/backoff.ts";
import { createPacedLoop, type PacedLoopOptions } from "../../../services/runtime/paced-loop.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function loopOf(run: PacedLoopOptions["run"], options: Partial<PacedLoopOptions> = {}) {
  const errors: unknown[] = [];
  const loop = createPacedLoop({
    name: "sweep",
    everyMs: 1_000,
    jitter: 0,
    run,
    onError: (error) => errors.push(error),
    ...options,
  });
  return { loop, errors };
}

/** A run that ends when the test says so. */
function gated() {
  let begun = 0;
  let running = 0;
  let overlaps = 0;
  const gates: (() => void)[] = [];
  const run = async (): Promise<void> => {
    begun += 1;
    running += 1;
    if (running > 1) overlaps += 1;
    await new Promise<void>((resolve) => gates.push(resolve));
    running -= 1;
  };
  const finish = async (): Promise<void> => {
    gates.shift()?.();
    await vi.advanceTimersByTimeAsync(0);
  };
  return { run, finish, begun: () => begun, overlaps: () => overlaps };
}

describe("a paced loop", () => {
  it("runs at once and then once per interval, counted from the end of a run", async () => {
    const run = vi.fn(async () => undefined);
    const { loop } = loopOf(run);
    loop.start();
    await vi.advanceTimersByTimeAsync(0);
    expect(run).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(999);
    expect(run).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(run).toHaveBeenCalledTimes(2);
    await loop.stop();
  });

  it("never overlaps itself, however often it is nudged, and a nudge during a run asks for one more", async () => {
    const work = gated();
    const { loop } = loopOf(work.run);
    loop.start();
    await vi.advanceTimersByTimeAsync(0);
    for (let nudges = 0; nudges < 10; nudges += 1) loop.nudge();
    await vi.advanceTimersByTimeAsync(0);
    expect(work.begun()).toBe(1);
    await work.finish();
    expect(work.begun()).toBe(2);
    await work.finish();
    expect(work.begun()).toBe(2);
    expect(work.overlaps()).toBe(0);
    await loop.stop();
  });

  it("wakes from its pause when nudged", async () => {
    const run = vi.fn(async () => undefined);
    const { loop } = loopOf(run, { everyMs: 3_600_000, waitFirst: true });
    loop.start();
    await vi.advanceTimersByTimeAsync(10);
    expect(run).not.toHaveBeenCalled();
    loop.nudge();
    await vi.advanceTimersByTimeAsync(0);
    expect(run).toHaveBeenCalledTimes(1);
    await loop.stop();
  });

  it("goes on at once while a run says that there is more", async () => {
    let left = 5;
    const run = vi.fn(async () => {
      left -= 1;
      return left > 0;
    });
    const { loop } = loopOf(run);
    loop.start();
    await vi.advanceTimersByTimeAsync(0);
    expect(run).toHaveBeenCalledTimes(5);
    await loop.stop();
  });

  it("survives errors, reports each, and comes back later and later until a run succeeds", async () => {
    let broken = true;
    const run = vi.fn(async () => {
      if (broken) throw new Error("database away");
    });
    const { loop, errors } = loopOf(run, { backoff: { firstMs: 1_000, maxMs: 8_000 } });
    loop.start();
    await vi.advanceTimersByTimeAsync(60_000);
    const failed = run.mock.calls.length;
    expect(errors).toHaveLength(failed);
    // Without backoff there would have been 60 runs; with it, at least one per 8 s.
    expect(failed).toBeGreaterThanOrEqual(8);
    expect(failed).toBeLessThan(25);
    broken = false;
    await vi.advanceTimersByTimeAsync(20_000);
    expect(run.mock.calls.length - failed).toBeGreaterThanOrEqual(12);
    expect(errors).toHaveLength(failed);
    await loop.stop();
  });

  it("lets a test await a run that began after the question", async () => {
    const work = gated();
    const { loop } = loopOf(work.run);
    loop.start();
    await vi.advanceTimersByTimeAsync(0);
    let ran = false;
    void loop.ranOnce().then(() => (ran = true));
    await work.finish();
    expect(ran).toBe(false);
    loop.nudge();
    await vi.advanceTimersByTimeAsync(0);
    await work.finish();
    expect(ran).toBe(true);
    await loop.stop();
  });

  it("stops after the run in progress, whose signal it aborts, and begins no other", async () => {
    let aborted = false;
    const run = vi.fn(
      (signal: AbortSignal) =>
        new Promise<void>((_, reject) => {
          signal.addEventListener("abort", () => {
            aborted = true;
            reject(new Error("stopped"));
          });
        }),
    );
    const { loop, errors } = loopOf(run);
    loop.start();
    await vi.advanceTimersByTimeAsync(0);
    await loop.stop();
    loop.nudge();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(aborted).toBe(true);
    expect(run).toHaveBeenCalledTimes(1);
    expect(errors).toEqual([]);
    expect(() => loop.start()).toThrow("was stopped");
  });
});

describe("backoff", () => {
  it("doubles up to its maximum and waits between half and all of it", () => {
    const backoff = { firstMs: 100, maxMs: 1_000 };
    expect([1, 2, 3, 4, 5, 99].map((failures) => backoffMs(backoff, failures, () => 1))).toEqual([
      100, 200, 400, 800, 1_000, 1_000,
    ]);
    expect(backoffMs(backoff, 3, () => 0)).toBe(200);
  });
});
