import { describe, expect, it } from "vitest";
import { judgeDelivery, type SendResult, TRIES_MAX } from "../../../services/core/webhooks/judge-delivery.ts";

const answered = (status: number, retryAfterMs: number | null = null): SendResult => ({
  kind: "answered",
  status,
  retryAfterMs,
});

describe("what becomes of a delivery", () => {
  it.each([200, 201, 204, 299])("%s ends it well", (status) => {
    expect(judgeDelivery(answered(status), 1, 0.5)).toEqual({ kind: "delivered" });
  });

  it.each([400, 401, 404, 410, 422])("%s is the receiver's last word", (status) => {
    expect(judgeDelivery(answered(status), 1, 0.5)).toMatchObject({ kind: "dead" });
  });

  it.each([408, 429, 500, 502, 503, 304])("%s passes, and is tried again", (status) => {
    expect(judgeDelivery(answered(status), 1, 0.5)).toMatchObject({ kind: "retry", afterMs: 5_000 });
  });

  it("each try waits longer than the last, up to a limit, a fifth more or less", () => {
    const waits = Array.from({ length: TRIES_MAX - 1 }, (_, index) => {
      const verdict = judgeDelivery({ kind: "unreachable", reason: "gone" }, index + 1, 0.5);
      return verdict.kind === "retry" ? verdict.afterMs : -1;
    });
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits.slice(0, 3)).toEqual([5_000, 15_000, 45_000]);
    expect(waits.at(-1)).toBe(8 * 3_600_000);
    expect(judgeDelivery(answered(500), 1, 0)).toMatchObject({ afterMs: 4_000 });
    expect(judgeDelivery(answered(500), 1, 0.999)).toMatchObject({
      afterMs: expect.closeTo(6_000, -2) as number,
    });
  });

  it("the last try is the last", () => {
    expect(judgeDelivery(answered(503), TRIES_MAX, 0.5)).toEqual({
      kind: "dead",
      reason: "answered 503, 12 times",
    });
  });

  it("a receiver may ask for more patience, within a day", () => {
    expect(judgeDelivery(answered(429, 60_000), 1, 0.5)).toMatchObject({ afterMs: 60_000 });
    expect(judgeDelivery(answered(429, 9e9), 1, 0.5)).toMatchObject({ afterMs: 24 * 3_600_000 });
  });

  it("an address that is not to be sent to is not tried again", () => {
    const verdict = judgeDelivery({ kind: "forbidden", reason: "the address is private or local" }, 1, 0.5);
    expect(verdict).toEqual({ kind: "dead", reason: "the address is private or local" });
  });
});
