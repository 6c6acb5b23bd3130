import * as fc from "fast-check";
import { expect, it } from "vitest";
import { reconnectDelayMs } from "../../../services/coordination/redis/connection.ts";

it("a connection is retried for ever, at first soon, at most every two seconds, never in step", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), (attempt) => {
      const delayMs = reconnectDelayMs(attempt);
      expect(delayMs).toBeGreaterThanOrEqual(25);
      expect(delayMs).toBeLessThanOrEqual(2_000);
    }),
  );
  expect(reconnectDelayMs(1)).toBeLessThanOrEqual(50);
  expect(reconnectDelayMs(50)).toBeGreaterThanOrEqual(1_000);
  expect(new Set(Array.from({ length: 50 }, () => reconnectDelayMs(50))).size).toBeGreaterThan(10);
});
