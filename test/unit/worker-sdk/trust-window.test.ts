import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  hasLapsed,
  marginOf,
  needsConfirming,
  renewAfter,
  trustedUntil,
} from "../../../services/worker-sdk/trust-window.ts";

const ttl = fc.integer({ min: 1_000, max: 86_400_000 });
const instant = fc.double({ min: 0, max: 1e12, noNaN: true });
const delay = fc.double({ min: 0, max: 1e8, noNaN: true });

describe("trust window", () => {
  it("closes before the claim lapses, however late the grant came after the first try", () => {
    fc.assert(
      fc.property(instant, delay, ttl, (firstTryAt, grantedLater, ttlMs) => {
        const lapsesAt = firstTryAt + grantedLater + ttlMs;
        expect(trustedUntil(firstTryAt, ttlMs)).toBeLessThan(lapsesAt);
      }),
    );
  });

  it("leaves a tenth of the ttl to stop in, and never more than five seconds", () => {
    expect(marginOf(1_000)).toBe(100);
    expect(marginOf(20_000)).toBe(2_000);
    expect(marginOf(900_000)).toBe(5_000);
  });

  it("is no longer than what the answer says is left, near the end of a tenure", () => {
    expect(trustedUntil(1_000, 60_000, 2_000)).toBe(1_000 + 2_000 - 5_000);
    expect(trustedUntil(1_000, 60_000, 900_000)).toBe(1_000 + 60_000 - 5_000);
  });

  it("has lapsed at the very instant, not after it", () => {
    expect(hasLapsed(500, 499)).toBe(false);
    expect(hasLapsed(500, 500)).toBe(true);
  });

  it("asks for confirmation when waiting used up half of it", () => {
    const ttlMs = 10_000;
    const until = trustedUntil(0, ttlMs);
    expect(needsConfirming(until, ttlMs, 100)).toBe(false);
    expect(needsConfirming(until, ttlMs, 5_000)).toBe(true);
    expect(needsConfirming(until, ttlMs, 50_000)).toBe(true);
  });

  it("renews early enough that two renewals may fail", () => {
    fc.assert(
      fc.property(ttl, fc.double({ min: 0, max: 1, noNaN: true }), (ttlMs, random) => {
        const every = renewAfter(ttlMs, random);
        expect(every * 2).toBeLessThan(ttlMs - marginOf(ttlMs));
        expect(every).toBeGreaterThan(ttlMs / 5);
      }),
    );
  });
});
