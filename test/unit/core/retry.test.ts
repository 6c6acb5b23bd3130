import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { backoffMs, judgeFailure } from "../../../services/core/retry.ts";
import { DEFAULT_POLICY } from "../../../services/core/state.ts";

const POLICY = { ...DEFAULT_POLICY, maxAttempts: 3 };
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe("an attempt that ended badly", () => {
  it("counts and is available at once when it expired [B52]", () => {
    expect(judgeFailure("expiry", 0, POLICY, 0.5)).toEqual({ kind: "retry", attempts: 1, waitMs: 0 });
  });

  it("counts and waits when the item was at fault", () => {
    expect(judgeFailure("item", 1, POLICY, 0)).toEqual({ kind: "retry", attempts: 2, waitMs: 10_000 });
  });

  it("waits and does not count when the environment was at fault, however often", () => {
    expect(judgeFailure("environment", 2, POLICY, 0)).toMatchObject({ kind: "retry", attempts: 2 });
    expect(judgeFailure("environment", 0, POLICY, 0)).toEqual({ kind: "retry", attempts: 0, waitMs: 2_500 });
  });

  it.each(["expiry", "item"] as const)("is the last when %s uses up what is allowed [B53]", (failure) => {
    expect(judgeFailure(failure, 2, POLICY, 0)).toEqual({ kind: "dead", attempts: 3 });
  });

  it("is never followed by more attempts than are allowed, whatever happens in which order", () => {
    const failures = fc.array(fc.constantFrom("expiry", "item", "environment"), { maxLength: 40 });
    fc.assert(
      fc.property(failures, fc.integer({ min: 1, max: 6 }), chance, (all, maxAttempts, random) => {
        let attempts = 0;
        let counted = 0;
        for (const failure of all) {
          const verdict = judgeFailure(failure, attempts, { ...POLICY, maxAttempts }, random);
          counted += Number(failure !== "environment");
          expect(verdict.attempts).toBe(counted);
          attempts = verdict.attempts;
          if (verdict.kind === "dead") break;
        }
        expect(attempts).toBeLessThanOrEqual(maxAttempts);
      }),
    );
  });
});

describe("the wait before the next attempt", () => {
  const backoff = { firstMs: 5_000, factor: 4, maxMs: 3_600_000 };

  it("lies between half of the full wait and the full wait", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000 }), chance, (attempt, random) => {
        const full = Math.min(backoff.maxMs, backoff.firstMs * backoff.factor ** (attempt - 1));
        const ms = backoffMs(backoff, attempt, random);
        expect(ms).toBeGreaterThanOrEqual(full / 2);
        expect(ms).toBeLessThanOrEqual(full);
      }),
    );
  });

  it("grows with the attempts until its cap, whatever chance says", () => {
    const waits = [1, 2, 3, 4, 5].map((attempt) => backoffMs(backoff, attempt, 0));
    const luckiest = [1, 2, 3, 4].map((attempt) => backoffMs(backoff, attempt, 0.999));
    for (const [index, wait] of luckiest.entries()) expect(wait).toBeLessThan(waits[index + 1] as number);
    expect(backoffMs(backoff, 50, 0.999_999)).toBe(3_599_998);
  });
});
