import { describe, expect, it } from "vitest";
import { createLocalClaimClock } from "../../../services/coordination/local/claim-clock.ts";
import { createLocalIdempotencyCache } from "../../../services/coordination/local/idempotency-cache.ts";

const LIFE_MS = 60_000;

describe("the local idempotency cache", () => {
  it("keeps the newest answers within its bound on entries", async () => {
    const cache = createLocalIdempotencyCache({ monotonicMs: () => 0, entriesMax: 3 });
    for (const key of ["a", "b", "c", "d"]) {
      await cache.answer(key, { fingerprint: "f", answer: key }, LIFE_MS);
    }
    expect(await cache.get("a")).toBeNull();
    expect(await cache.get("b")).toMatchObject({ answer: "b" });
    expect(await cache.get("d")).toMatchObject({ answer: "d" });
  });

  it("keeps the newest answers within its bound on size, and counts a replaced one once", async () => {
    const cache = createLocalIdempotencyCache({ monotonicMs: () => 0, charactersMax: 100 });
    const answer = { fingerprint: "12345", answer: "x".repeat(35) };
    for (const key of ["a", "b", "b", "b"]) await cache.answer(key, answer, LIFE_MS);
    expect(await cache.get("a")).toEqual(answer);
    await cache.answer("c", answer, LIFE_MS);
    expect(await cache.get("a")).toBeNull();
    expect(await cache.get("b")).toEqual(answer);
    await cache.answer("huge", { fingerprint: "f", answer: "x".repeat(101) }, LIFE_MS);
    expect(await cache.get("huge")).toBeNull();
    expect(await cache.begin("d", LIFE_MS)).toBe(true);
  });
});

describe("the local claim clock", () => {
  it("calls a silent claim dead for as long as the database may not, then forgets it", async () => {
    const time = { ms: 0 };
    const clock = createLocalClaimClock(() => time.ms);
    const claim = { key: "item", fence: 1, ttlMs: LIFE_MS };
    await clock.touch([claim], 0);
    time.ms = 1.5 * LIFE_MS;
    expect(await clock.look([claim], time.ms)).toEqual([{ state: "dead", sinceMs: LIFE_MS / 2 }]);
    time.ms = 3 * LIFE_MS;
    expect(await clock.look([claim], time.ms)).toEqual([{ state: "unknown" }]);
  });

  it("is not fooled by tests that move the database's clock: garbage goes by real time", async () => {
    const clock = createLocalClaimClock(() => 0);
    const claim = { key: "item", fence: 1, ttlMs: LIFE_MS };
    await clock.touch([claim], 0);
    expect(await clock.look([claim], 1_000 * LIFE_MS)).toMatchObject([{ state: "dead" }]);
  });
});
