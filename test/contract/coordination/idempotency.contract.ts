import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { IdempotencyCache } from "../../../services/coordination/port.ts";
import { until } from "../../support/until.ts";
import type { CoordinationFixture, MakeFixture } from "./fixture.ts";

const LIFE_MS = 60_000;

export function describeIdempotencyCache(make: MakeFixture): void {
  let fixture: CoordinationFixture;
  let cache: IdempotencyCache;
  let otherCache: IdempotencyCache;

  beforeEach(async () => {
    fixture = await make();
    [{ idempotency: cache }, { idempotency: otherCache }] = fixture.replicas();
  });
  afterEach(() => fixture.close());

  it("knows nothing at first", async () => {
    expect(await cache.get("key")).toBeNull();
  });

  it("lets one caller begin, and shows the others that it is in flight", async () => {
    const begun = await Promise.all(
      Array.from({ length: 40 }, (_, index) => (index % 2 ? cache : otherCache).begin("key", LIFE_MS)),
    );
    expect(begun.filter(Boolean)).toHaveLength(1);
    expect(await cache.get("key")).toBe("in_flight");
    expect(await otherCache.get("key")).toBe("in_flight");
    expect(await otherCache.get("another")).toBeNull();
  });

  it("replays an answer to every replica, byte by byte", async () => {
    const value = { fingerprint: "12:sha ☃\n", answer: '{"a":"7:\\n ☃ 👾","b":[1,2]}\n' };
    await cache.begin("key", LIFE_MS);
    await cache.answer("key", value, LIFE_MS);
    expect(await otherCache.get("key")).toEqual(value);
    expect(await otherCache.begin("key", LIFE_MS)).toBe(false);
  });

  it("keeps an empty answer apart from none", async () => {
    await cache.answer("key", { fingerprint: "", answer: "" }, LIFE_MS);
    expect(await otherCache.get("key")).toEqual({ fingerprint: "", answer: "" });
  });

  it("can be begun again after it was abandoned", async () => {
    await cache.begin("key", LIFE_MS);
    await cache.abandon("key");
    expect(await otherCache.get("key")).toBeNull();
    expect(await otherCache.begin("key", LIFE_MS)).toBe(true);
  });

  it("does not abandon an answer", async () => {
    const value = { fingerprint: "f", answer: "1" };
    await cache.begin("key", LIFE_MS);
    await cache.answer("key", value, LIFE_MS);
    await cache.abandon("key");
    expect(await cache.get("key")).toEqual(value);
  });

  describe("forgets by itself", () => {
    it("a marker", async () => {
      await cache.begin("key", 20);
      await until(() => otherCache.begin("key", LIFE_MS));
    });

    it("an answer", async () => {
      await cache.answer("key", { fingerprint: "f", answer: "1" }, 20);
      await until(async () => (await otherCache.get("key")) === null);
    });
  });
}
