import { fail } from "node:assert";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ClaimClock, ClockEntry } from "../../../services/coordination/port.ts";
import { ClockModel } from "./clock-model.ts";
import { type CoordinationFixture, type MakeFixture, START_MS } from "./fixture.ts";

const TTL_MS = 60_000;
const ALIVE = { state: "alive", msLeft: TTL_MS } as const;
const UNKNOWN = { state: "unknown" } as const;

function claim(fence: number, ttlMs = TTL_MS, key = "item"): ClockEntry {
  return { key, fence, ttlMs };
}

export function describeClaimClock(make: MakeFixture): void {
  let fixture: CoordinationFixture;
  let clock: ClaimClock;
  let otherClock: ClaimClock;

  beforeEach(async () => {
    fixture = await make();
    [{ claimClock: clock }, { claimClock: otherClock }] = fixture.replicas();
  });
  afterEach(() => fixture.close());

  /** Lets the store have watched for longer than any ttl here. */
  async function remember(): Promise<void> {
    await clock.look([claim(1)], START_MS - 10 * TTL_MS);
  }

  async function forget(): Promise<void> {
    await fixture.forget();
    [{ claimClock: clock }, { claimClock: otherClock }] = fixture.replicas();
  }

  const look = async (entry: ClockEntry, nowMs: number) => (await clock.look([entry], nowMs))[0];
  const renew = async (entry: ClockEntry, nowMs: number) => (await otherClock.renew([entry], nowMs))[0];

  describe("a touched claim", () => {
    beforeEach(async () => {
      await remember();
      await clock.touch([claim(5)], START_MS);
    });

    it("is alive for its ttl, on every replica", async () => {
      expect(await look(claim(5), START_MS)).toEqual(ALIVE);
      expect(await otherClock.look([claim(5)], START_MS + TTL_MS - 1)).toEqual([
        { state: "alive", msLeft: 1 },
      ]);
    });

    it("is dead from the instant at which the ttl has passed", async () => {
      expect(await look(claim(5), START_MS + TTL_MS)).toEqual({ state: "dead", sinceMs: 0 });
      expect(await look(claim(5), START_MS + TTL_MS + 1_234)).toEqual({ state: "dead", sinceMs: 1_234 });
    });

    it("is unknown under a fence that was not touched yet", async () => {
      expect(await look(claim(6), START_MS + 5 * TTL_MS)).toEqual(UNKNOWN);
    });

    it("is dead under a lower fence since the newer one was first known", async () => {
      await renew(claim(5), START_MS + 20_000);
      await clock.touch([claim(5)], START_MS + 30_000);
      expect(await look(claim(4), START_MS + 31_000)).toEqual({ state: "dead", sinceMs: 31_000 });
    });

    it("is not changed by a lower fence", async () => {
      await clock.touch([claim(4)], START_MS + 30_000);
      await clock.drop([claim(3)], START_MS + 30_000);
      expect(await renew(claim(4), START_MS + 30_000)).toBe("superseded");
      expect(await look(claim(5), START_MS + TTL_MS)).toEqual({ state: "dead", sinceMs: 0 });
    });

    it("gives way to a higher fence", async () => {
      await clock.touch([claim(7)], START_MS + 1_000);
      expect(await renew(claim(5), START_MS + 1_000)).toBe("superseded");
      expect(await look(claim(7), START_MS + 1_000)).toEqual(ALIVE);
    });

    it("is judged by the ttl that the database says", async () => {
      expect(await look(claim(5, 1_000), START_MS + 1_000)).toEqual({ state: "dead", sinceMs: 0 });
      expect(await look(claim(5, 2 * TTL_MS), START_MS + TTL_MS)).toEqual(ALIVE);
    });

    it("survives being looked at, renewed and touched at an earlier time", async () => {
      expect(await look(claim(5), START_MS - 3 * TTL_MS)).toEqual(ALIVE);
      expect(await renew(claim(5), START_MS - 3 * TTL_MS)).toBe("write");
      await clock.touch([claim(5)], START_MS - 3 * TTL_MS);
      expect(await look(claim(5), START_MS + TTL_MS - 1)).toEqual({ state: "alive", msLeft: 1 });
      // The database counts from the earlier instant, so it is due again half a ttl after that.
      expect(await renew(claim(5), START_MS - 3 * TTL_MS + TTL_MS / 2)).toBe("write");
    });
  });

  describe("a renewal", () => {
    beforeEach(async () => {
      await remember();
      await clock.touch([claim(5)], START_MS);
    });

    it("restarts the ttl", async () => {
      expect(await renew(claim(5), START_MS + 20_000)).toBe("ok");
      expect(await look(claim(5), START_MS + 20_000)).toEqual(ALIVE);
      expect(await look(claim(5), START_MS + 20_000 + TTL_MS)).toEqual({ state: "dead", sinceMs: 0 });
    });

    it("of a claim that has lapsed revives it: nobody has displaced it", async () => {
      expect(await renew(claim(5), START_MS + 3 * TTL_MS)).toBe("write");
      expect(await look(claim(5), START_MS + 3 * TTL_MS)).toEqual(ALIVE);
    });

    it("asks for a write once the database has half a ttl left, until one is touched", async () => {
      expect(await renew(claim(5), START_MS + TTL_MS / 2 - 1)).toBe("ok");
      expect(await renew(claim(5), START_MS + TTL_MS / 2)).toBe("write");
      expect(await renew(claim(5), START_MS + TTL_MS / 2 + 1)).toBe("write");
      await clock.touch([claim(5)], START_MS + TTL_MS / 2 + 2);
      expect(await renew(claim(5), START_MS + TTL_MS / 2 + 3)).toBe("ok");
    });

    it("asks for a write when the ttl changes, until one is touched", async () => {
      expect(await renew(claim(5, 30_000), START_MS + 1_000)).toBe("write");
      expect(await renew(claim(5, 30_000), START_MS + 2_000)).toBe("write");
      await clock.touch([claim(5, 30_000)], START_MS + 3_000);
      expect(await renew(claim(5, 30_000), START_MS + 4_000)).toBe("ok");
    });

    it("that nothing is known of, or only lower fences, is kept and asks for a write", async () => {
      expect(await renew(claim(1, TTL_MS, "unheard"), START_MS)).toBe("write");
      expect(await renew(claim(1, TTL_MS, "unheard"), START_MS + 1)).toBe("write");
      expect(await look(claim(1, TTL_MS, "unheard"), START_MS + 1)).toEqual(ALIVE);
      expect(await renew(claim(6), START_MS)).toBe("write");
      expect(await renew(claim(5), START_MS)).toBe("superseded");
    });
  });

  describe("a dropped claim", () => {
    beforeEach(async () => {
      await remember();
      await clock.touch([claim(5)], START_MS);
      await clock.drop([claim(5)], START_MS + 1_000);
    });

    it("cannot be renewed or touched back to life", async () => {
      await clock.touch([claim(5)], START_MS + 2_000);
      expect(await renew(claim(5), START_MS + 2_000)).toBe("superseded");
      expect(await look(claim(5), START_MS + 3_000)).toEqual({ state: "dead", sinceMs: 2_000 });
    });

    it("says nothing about the fence that follows, until that is touched", async () => {
      expect(await look(claim(6), START_MS + 5 * TTL_MS)).toEqual(UNKNOWN);
      await clock.touch([claim(6)], START_MS + 2_000);
      expect(await look(claim(6), START_MS + 2_000)).toEqual(ALIVE);
      // It ended with the drop, not when the next was taken.
      expect(await look(claim(5), START_MS + 3_000)).toEqual({ state: "dead", sinceMs: 2_000 });
    });

    it("lets the fence that follows be renewed although its touch was lost", async () => {
      expect(await renew(claim(6), START_MS + 2_000)).toBe("write");
      expect(await look(claim(6), START_MS + 2_000)).toEqual(ALIVE);
    });

    it("may be dropped again, which does not end the tenure that followed", async () => {
      await clock.drop([claim(5)], START_MS + 2_000);
      expect(await look(claim(5), START_MS + 3_000)).toEqual({ state: "dead", sinceMs: 2_000 });
      await clock.touch([claim(6)], START_MS + 4_000);
      await clock.drop([claim(5)], START_MS + 5_000);
      expect(await look(claim(6), START_MS + 5_000)).toEqual({ state: "alive", msLeft: TTL_MS - 1_000 });
    });

    it("leaves its mark even where the claim was never heard", async () => {
      await clock.drop([claim(2, TTL_MS, "unheard")], START_MS);
      expect(await renew(claim(2, TTL_MS, "unheard"), START_MS)).toBe("superseded");
    });
  });

  describe("a memory that was lost", () => {
    it("never calls dead what it cannot have heard", async () => {
      await remember();
      await clock.touch([claim(5)], START_MS);
      await forget();
      const dueMs = START_MS + 2 * TTL_MS;
      expect(await look(claim(5), dueMs)).toEqual(UNKNOWN);
      await clock.touch([claim(6)], dueMs);
      expect(await look(claim(5), dueMs + TTL_MS - 1)).toEqual(UNKNOWN);
      expect(await look(claim(5), dueMs + TTL_MS)).toEqual({ state: "dead", sinceMs: TTL_MS });
    });

    it("starts at the first call, whichever it is, and judges each ttl by itself", async () => {
      const calls = [
        () => clock.touch([claim(5)], START_MS),
        () => clock.renew([claim(5)], START_MS),
        () => clock.drop([claim(4)], START_MS),
      ];
      for (const call of calls) {
        await forget();
        await call();
        await clock.touch([claim(5, 1_000)], START_MS);
        expect(await look(claim(5, 1_000), START_MS + 1_000)).toEqual({ state: "dead", sinceMs: 0 });
        expect(await look(claim(4), START_MS + 1_000)).toEqual(UNKNOWN);
        expect(await look(claim(4, 1_000), START_MS + 1_000)).toMatchObject({ state: "dead" });
      }
    });

    it("does not count a touch that is dated before it began", async () => {
      await clock.look([claim(5)], START_MS);
      await clock.touch([claim(5)], START_MS - 1);
      expect(await renew(claim(5), START_MS)).toBe("write");
      await clock.touch([claim(5)], START_MS);
      expect(await renew(claim(5), START_MS)).toBe("ok");
    });

    it("says at once who is alive, when it hears them", async () => {
      await clock.touch([claim(5)], START_MS);
      await forget();
      expect(await renew(claim(5), START_MS + 1_000)).toBe("write");
      expect(await look(claim(5), START_MS + 1_000)).toEqual(ALIVE);
    });
  });

  it("answers by position, also for a key that is named twice and for many", async () => {
    await remember();
    await clock.touch([claim(1), claim(2, TTL_MS, "b"), claim(3)], START_MS);
    expect(
      await clock.look([claim(1), claim(2, TTL_MS, "b"), claim(3), claim(1, TTL_MS, "c")], START_MS),
    ).toEqual([{ state: "dead", sinceMs: 0 }, ALIVE, ALIVE, UNKNOWN]);
    const many = Array.from({ length: 1_203 }, (_, index) => claim(index + 1, TTL_MS, `many-${index}`));
    await clock.touch(many, START_MS);
    await clock.drop([many[700] ?? fail()], START_MS);
    const outcomes = await otherClock.renew(many, START_MS + 1);
    expect(outcomes).toHaveLength(many.length);
    expect(outcomes.flatMap((outcome, index) => (outcome === "ok" ? [] : [[index, outcome]]))).toEqual([
      [700, "superseded"],
    ]);
    expect(await clock.look([], START_MS)).toEqual([]);
    expect(await clock.renew([], START_MS)).toEqual([]);
  });

  it("keeps fences and instants exact up to the largest safe integer", async () => {
    await remember();
    const largest = Number.MAX_SAFE_INTEGER - 1;
    await clock.touch([claim(largest)], START_MS);
    await clock.touch([claim(largest - 1)], START_MS + 1);
    expect(await look(claim(largest), START_MS + 7)).toEqual({ state: "alive", msLeft: TTL_MS - 7 });
    await clock.drop([claim(largest)], START_MS);
    expect(await renew(claim(largest), START_MS)).toBe("superseded");
  });

  it("lets the highest fence win, however touches, renewals and drops race", async () => {
    await remember();
    const fences = Array.from({ length: 200 }, (_, index) => (index * 71) % 200);
    await Promise.all(
      fences.map(async (fence, index) => {
        const on = index % 2 === 0 ? clock : otherClock;
        if (index % 3 === 0) await on.renew([claim(fence)], START_MS);
        else if (index % 3 === 1) await on.touch([claim(fence)], START_MS);
        else if (fence < 198) await on.drop([claim(fence)], START_MS);
        else await on.touch([claim(fence)], START_MS);
      }),
    );
    expect(await look(claim(199), START_MS + 1)).toEqual({ state: "alive", msLeft: TTL_MS - 1 });
    expect(await look(claim(198), START_MS + 1)).toEqual({ state: "dead", sinceMs: 1 });
    expect(await renew(claim(198), START_MS + 1)).toBe("superseded");
  });

  describe("after any history", () => {
    const entries = fc.record({
      key: fc.constantFrom("a", "a", "a", "b"),
      fence: fc.integer({ min: 0, max: 3 }),
      ttlMs: fc.constantFrom(1_000, 10_000, 10_001),
    });
    const steps = fc.record({
      call: fc.oneof(
        { weight: 4, arbitrary: fc.constant("touch" as const) },
        { weight: 6, arbitrary: fc.constant("renew" as const) },
        { weight: 3, arbitrary: fc.constant("drop" as const) },
        { weight: 8, arbitrary: fc.constant("look" as const) },
        { weight: 1, arbitrary: fc.constant("forget" as const) },
      ),
      entries: fc.array(entries, { minLength: 1, maxLength: 3 }),
      // Now and then time goes back.
      passedMs: fc.oneof(
        { weight: 6, arbitrary: fc.integer({ min: 0, max: 4_000 }) },
        { weight: 2, arbitrary: fc.constantFrom(500, 1_000, 5_000, 10_000) },
        { weight: 1, arbitrary: fc.integer({ min: -6_000, max: -1 }) },
      ),
    });

    it("answers what a log of everything said would answer", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 40 }), async (history) => {
          const model = new ClockModel();
          await forget();
          let nowMs = START_MS;
          for (const [index, step] of history.entries()) {
            nowMs += step.passedMs;
            const on = index % 2 === 0 ? clock : otherClock;
            if (step.call === "forget") {
              await forget();
              model.forget();
            } else if (step.call === "renew" || step.call === "look") {
              const answer = await on[step.call](step.entries, nowMs);
              expect(answer).toEqual(step.entries.map((entry) => model[step.call as "look"](entry, nowMs)));
            } else {
              await on[step.call](step.entries, nowMs);
              for (const entry of step.entries) model[step.call](entry, nowMs);
            }
          }
        }),
        { numRuns: 250 },
      );
    });
  });
}
