import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isLapsed, judgeClaim, msUntilLapsed, TENURE_MS } from "../../../services/core/claim.ts";
import { claimOf, item, NOW } from "./world-of.ts";

const CLAIM = claimOf({ ttlMs: 60_000 });
const EXPIRY = CLAIM.expiresAt;

describe("a claim has lapsed", () => {
  it.each([
    {
      when: "a millisecond before its expiry, whatever the clock says",
      at: EXPIRY - 1,
      seenDead: true,
      lapsed: false,
    },
    {
      when: "exactly at its expiry, if the clock saw the holder die [B49]",
      at: EXPIRY,
      seenDead: true,
      lapsed: true,
    },
    {
      when: "exactly at its expiry, not on the database's word alone",
      at: EXPIRY,
      seenDead: false,
      lapsed: false,
    },
    {
      when: "a millisecond before expiry + ttl/2, not without the clock",
      at: EXPIRY + 29_999,
      seenDead: false,
      lapsed: false,
    },
    {
      when: "exactly at expiry + ttl/2, with no clock at all",
      at: EXPIRY + 30_000,
      seenDead: false,
      lapsed: true,
    },
  ])("$when: $lapsed", ({ at, seenDead, lapsed }) => {
    expect(isLapsed(CLAIM, at, seenDead)).toBe(lapsed);
  });
});

describe("the wait that a refused caller is told", () => {
  it("is what is left until the expiry, and past it what is left until nobody can say otherwise", () => {
    expect(msUntilLapsed(CLAIM, EXPIRY - 1)).toBe(1);
    expect(msUntilLapsed(CLAIM, EXPIRY)).toBe(30_000);
    expect(msUntilLapsed(CLAIM, EXPIRY + 30_000)).toBe(1);
  });

  it("is between 1 ms and the ttl, even when the row was waited for since before the claim [B36]", () => {
    const instants = fc.integer({ min: NOW - 10_000, max: EXPIRY + 100_000 });
    fc.assert(
      fc.property(instants, (now) => {
        const ms = msUntilLapsed(CLAIM, now);
        expect(ms).toBeGreaterThanOrEqual(1);
        expect(ms).toBeLessThanOrEqual(CLAIM.ttlMs);
      }),
    );
  });
});

describe("who may have an item", () => {
  const free = item("i");
  const held = item("i", { claim: CLAIM, fence: 7, role: "work" });
  const me = { agent: "ann", session: "ann-1", fence: null };
  const elsewhere = { agent: "ann", session: "ann-2", fence: null };
  const other = { agent: "bob", session: "bob-1", fence: null };
  const alive = NOW + 1_000;
  const lapsed = EXPIRY + 30_000;

  it.each([
    {
      who: "anybody, when it is free",
      item: free,
      by: other,
      at: alive,
      verdict: { kind: "grant", displaces: false },
    },
    {
      who: "nobody, when it is closed",
      item: item("i", { role: "terminal" }),
      by: me,
      at: alive,
      verdict: { kind: "terminal" },
    },
    {
      who: "nobody, when it is dead",
      item: item("i", { role: "blocked", dead: true }),
      by: me,
      at: alive,
      verdict: { kind: "dead" },
    },
    { who: "its holder, whose tenure goes on", item: held, by: me, at: alive, verdict: { kind: "refresh" } },
    {
      who: "its holder past the expiry, if nobody took it",
      item: held,
      by: me,
      at: EXPIRY,
      verdict: { kind: "refresh" },
    },
    {
      who: "its holder after the lapse, as a new tenure [F-03]",
      item: held,
      by: me,
      at: lapsed,
      verdict: { kind: "grant", displaces: true },
    },
    {
      who: "its holder no longer, after a day",
      item: item("i", { claim: { ...CLAIM, originalClaimedAt: alive - TENURE_MS }, fence: 7 }),
      by: me,
      at: alive,
      verdict: { kind: "tenure_over" },
    },
    {
      who: "the same agent in another session with the fence",
      item: held,
      by: { ...elsewhere, fence: 7 },
      at: alive,
      verdict: { kind: "take_over" },
    },
    {
      who: "not the same agent in another session without it [P-06]",
      item: held,
      by: elsewhere,
      at: alive,
      verdict: { kind: "held", msLeft: 59_000, sameAgent: true, expired: false },
    },
    {
      who: "not the same agent with an old fence",
      item: held,
      by: { ...elsewhere, fence: 6 },
      at: alive,
      verdict: { kind: "held", msLeft: 59_000, sameAgent: true, expired: false },
    },
    {
      who: "not another agent, though it knows the fence",
      item: held,
      by: { ...other, fence: 7 },
      at: alive,
      verdict: { kind: "held", msLeft: 59_000, sameAgent: false, expired: false },
    },
    {
      who: "not another agent at the expiry, before the clock was asked",
      item: held,
      by: other,
      at: EXPIRY,
      verdict: { kind: "held", msLeft: 30_000, sameAgent: false, expired: true },
    },
    {
      who: "another agent, after the lapse",
      item: held,
      by: other,
      at: lapsed,
      verdict: { kind: "grant", displaces: true },
    },
  ])("$who", ({ item: subject, by, at, verdict }) => {
    expect(judgeClaim(subject, by, at, false)).toEqual(verdict);
  });

  it("another agent exactly at the expiry, when the clock saw the holder die [B49]", () => {
    expect(judgeClaim(held, other, EXPIRY, true)).toEqual({ kind: "grant", displaces: true });
  });

  it("any session of its agent, where the name alone is the holder", () => {
    expect(judgeClaim(held, elsewhere, alive, false, "actor")).toEqual({ kind: "refresh" });
  });
});
