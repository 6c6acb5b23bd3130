import { describe, expect, it } from "vitest";
import { decideDue, decideOverlap } from "../../../../services/core/wake-ups/schedule.ts";

const NOW = 10_000_000;
const MINUTE = 60_000;
/** Ten instants that nobody was there for, the last a minute ago. */
const MISSED = Array.from({ length: 10 }, (_, index) => NOW - (10 - index) * MINUTE);
const FIRST = MISSED[0] ?? 0;

describe("planned instants that have come", () => {
  it("run one after the other as long as none is late", () => {
    const due = [NOW - 20_000, NOW - 10_000];
    const rule = { misfire: "skip", catchUpMax: 1 } as const;
    expect(decideDue(NOW - 20_000, due, rule, NOW)).toEqual({
      kind: "fire",
      plannedAt: NOW - 20_000,
      missed: null,
    });
  });

  it("that were missed are left out, run once, or are caught up with, as the schedule says [F-26]", () => {
    const step = (misfire: "skip" | "fire_once" | "catch_up", catchUpMax = 1) =>
      decideDue(FIRST, MISSED, { misfire, catchUpMax }, NOW);
    const missed = { from: FIRST, until: MISSED[9] };
    expect(step("skip")).toEqual({ kind: "skip", missed });
    expect(step("fire_once")).toMatchObject({ kind: "fire", plannedAt: MISSED[9], missed: { from: FIRST } });
    expect(step("catch_up", 3)).toMatchObject({
      kind: "fire",
      plannedAt: MISSED[7],
      missed: { from: FIRST },
    });
    expect(step("catch_up", 50)).toEqual({ kind: "fire", plannedAt: FIRST, missed: null });
  });

  it("wait, go or run while what the last one made is open", () => {
    expect(decideOverlap("allow", { open: true, queued: 0 })).toBe("run");
    expect(decideOverlap("skip", { open: true, queued: 0 })).toBe("skip");
    expect(decideOverlap("queue", { open: true, queued: 0 })).toBe("queue");
    expect(decideOverlap("queue", { open: false, queued: 1 })).toBe("queue");
    expect(decideOverlap("queue", { open: true, queued: 100 })).toBe("queue_full");
    expect(decideOverlap("queue", { open: false, queued: 0 })).toBe("run");
  });
});
