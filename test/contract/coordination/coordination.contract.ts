/** What every adapter of the coordination port must do, whatever it is made of. */
import { describe, expect, it } from "vitest";
import { describeClaimClock } from "./claim-clock.contract.ts";
import { describeCounters } from "./counters.contract.ts";
import { type MakeFixture, START_MS } from "./fixture.ts";
import { describeIdempotencyCache } from "./idempotency.contract.ts";
import { describeSingleUses } from "./single-uses.contract.ts";
import { describeWakeUps } from "./wake-ups.contract.ts";

export function describeCoordination(name: string, make: MakeFixture): void {
  describe(`${name} coordination`, () => {
    describe("claim clock", () => {
      describeClaimClock(make);
    });
    describe("idempotency cache", () => {
      describeIdempotencyCache(make);
    });
    describe("wake-ups", () => {
      describeWakeUps(make);
    });
    describe("counters", () => {
      describeCounters(make);
    });
    describe("single uses", () => {
      describeSingleUses(make);
    });

    it("is healthy as soon as it is asked", async () => {
      const fixture = await make();
      const { state, fault } = await fixture.replicas()[0].health();
      expect({ state, fault }).toEqual({ state: "up", fault: undefined });
      await fixture.close();
    });

    it("rejects nothing once it is closed, and closes twice", async () => {
      const fixture = await make();
      const [coordination] = fixture.replicas();
      await coordination.close();
      await coordination.close();
      const entries = [{ key: "item", fence: 1, ttlMs: 1_000 }];
      await coordination.claimClock.touch(entries, START_MS);
      await coordination.claimClock.drop(entries, START_MS);
      expect(await coordination.claimClock.renew(entries, START_MS)).toHaveLength(1);
      expect(await coordination.claimClock.look(entries, START_MS)).toHaveLength(1);
      expect(await coordination.idempotency.get("key")).toBeNull();
      expect(await coordination.idempotency.begin("key", 1_000)).toBe(true);
      await coordination.idempotency.answer("key", { fingerprint: "f", answer: "1" }, 1_000);
      await coordination.idempotency.abandon("key");
      coordination.wakeUps.publish(["a"]);
      expect(await coordination.counters.take("key", 1, 1_000, 1)).toMatchObject({ allowed: true });
      const use = { key: "key", purpose: "p", madeAtMs: START_MS, lifeMs: 1_000 };
      expect(["fresh", "unknown"]).toContain(await coordination.singleUses.use(use, START_MS));
      await coordination.health();
      await fixture.close();
    });
  });
}
