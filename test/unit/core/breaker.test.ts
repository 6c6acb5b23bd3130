import { describe, expect, it } from "vitest";
import { judgeProbe, judgeTrouble } from "../../../services/core/breaker.ts";

describe("the breaker of a root", () => {
  it("opens when most of at least five ends were the environment's fault", () => {
    expect(judgeTrouble({ ends: 4, failures: 4 })).toEqual({ kind: "leave" });
    expect(judgeTrouble({ ends: 6, failures: 3 })).toEqual({ kind: "leave" });
    expect(judgeTrouble({ ends: 5, failures: 3 })).toEqual({ kind: "open", waitMs: 30_000 });
  });

  it("closes when a probe got through, also to a fault of its item", () => {
    expect(judgeProbe(3, { reason: "completed", failure: null })).toEqual({ kind: "close" });
    expect(judgeProbe(3, { reason: "failed", failure: "item" })).toEqual({ kind: "close" });
  });

  it("waits twice as long after each failed probe, up to a quarter of an hour", () => {
    const failed = { reason: "failed", failure: "environment" } as const;
    expect(judgeProbe(0, failed)).toEqual({ kind: "wait", waitMs: 60_000, probes: 1 });
    expect(judgeProbe(1, failed)).toEqual({ kind: "wait", waitMs: 120_000, probes: 2 });
    expect(judgeProbe(40, failed)).toEqual({ kind: "wait", waitMs: 900_000, probes: 41 });
  });

  it("a probe that found nothing out is followed by another after the same wait", () => {
    for (const end of [
      null,
      { reason: "expired", failure: null },
      { reason: "released", failure: null },
    ] as const)
      expect(judgeProbe(2, end)).toEqual({ kind: "wait", waitMs: 120_000, probes: 2 });
  });
});
