import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startedByNpm, whenOrphaned } from "../../../services/runtime/orphan-watch.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a process below npm", () => {
  it("notices once that its parent is gone", async () => {
    let parent = 41;
    const act = vi.fn();
    whenOrphaned(act, () => parent);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(act).not.toHaveBeenCalled();
    parent = 1;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(act).toHaveBeenCalledTimes(1);
  });

  it("does not look any more when it stopped by itself", async () => {
    let parent = 41;
    const act = vi.fn();
    const end = whenOrphaned(act, () => parent);
    end();
    parent = 1;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(act).not.toHaveBeenCalled();
  });

  it("is told from one that somebody started directly", () => {
    expect(startedByNpm({ npm_lifecycle_event: "start" })).toBe(true);
    expect(startedByNpm({})).toBe(false);
  });
});
