import { afterEach, beforeEach, expect, it } from "vitest";
import type { Counters } from "../../../services/coordination/port.ts";
import { until } from "../../support/until.ts";
import type { CoordinationFixture, MakeFixture } from "./fixture.ts";

const WINDOW_MS = 60_000;

export function describeCounters(make: MakeFixture): void {
  let fixture: CoordinationFixture;
  let counters: Counters;
  let otherCounters: Counters;

  beforeEach(async () => {
    fixture = await make();
    [{ counters }, { counters: otherCounters }] = fixture.replicas();
  });
  afterEach(() => fixture.close());

  it("allows the limit and no more, over all replicas at once", async () => {
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        (index % 2 ? counters : otherCounters).take("key", 37, WINDOW_MS, 1),
      ),
    );
    expect(results.filter((result) => result.allowed)).toHaveLength(37);
    expect(Math.min(...results.map((result) => result.remaining))).toBe(0);
  });

  it("charges nothing for what it refuses", async () => {
    expect(await counters.take("key", 10, WINDOW_MS, 8)).toMatchObject({ allowed: true, remaining: 2 });
    expect(await counters.take("key", 10, WINDOW_MS, 3)).toMatchObject({ allowed: false, remaining: 2 });
    expect(await counters.take("key", 10, WINDOW_MS, 2)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await counters.take("other", 10, WINDOW_MS, 11)).toMatchObject({ allowed: false, remaining: 10 });
  });

  it("says what is left for no cost, without opening a window", async () => {
    expect(await counters.take("key", 5, WINDOW_MS, 0)).toEqual({
      allowed: true,
      remaining: 5,
      resetMs: WINDOW_MS,
    });
    await counters.take("key", 5, WINDOW_MS, 5);
    expect(await counters.take("key", 5, WINDOW_MS, 0)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it("keeps to a limit that was lowered within the window", async () => {
    await counters.take("key", 10, WINDOW_MS, 8);
    expect(await counters.take("key", 5, WINDOW_MS, 1)).toMatchObject({ allowed: false, remaining: 0 });
  });

  it("starts over when the window ends, which later costs do not put off", async () => {
    const first = await counters.take("key", 2, 40, 1);
    expect(first).toMatchObject({ allowed: true, remaining: 1 });
    expect(first.resetMs).toBeGreaterThan(0);
    expect(first.resetMs).toBeLessThanOrEqual(40);
    await until(async () => {
      const { resetMs, remaining } = await otherCounters.take("key", 2, 40, 1);
      expect(resetMs).toBeLessThanOrEqual(40);
      return remaining === 1;
    });
  });
}
