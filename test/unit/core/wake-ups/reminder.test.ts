import { describe, expect, it } from "vitest";
import {
  acknowledge,
  rearm,
  snooze,
  stateOf,
  upToSecond,
} from "../../../../services/core/wake-ups/reminder.ts";

const ARMED = { remindAt: 5_000, firedAt: null, ackedAt: null };
const FIRED = { ...ARMED, firedAt: 5_200 };
const ACKED = { ...FIRED, ackedAt: 9_000 };

describe("a reminder", () => {
  it("is armed, then fired, then acknowledged", () => {
    expect([ARMED, FIRED, ACKED].map(stateOf)).toEqual(["armed", "fired", "acknowledged"]);
  });

  it("is put to the next whole second, and left alone on one [P-14]", () => {
    expect(upToSecond(10_250)).toBe(11_000);
    expect(upToSecond(11_000)).toBe(11_000);
    expect(rearm(10_001).remindAt).toBe(11_000);
    expect(snooze(60, 10_250).remindAt).toBe(71_000);
  });

  it("that is armed anew has neither stamp any more [P-18]", () => {
    expect(rearm(20_000)).toEqual({ remindAt: 20_000, firedAt: null, ackedAt: null });
  });

  it("is acknowledged once it has fired, and once [P-17]", () => {
    expect(acknowledge(ARMED, 6_000)).toEqual({ kind: "not_fired" });
    expect(acknowledge(FIRED, 6_000)).toEqual({ kind: "acknowledged", times: { ...FIRED, ackedAt: 6_000 } });
    expect(acknowledge(ACKED, 12_000)).toEqual({ kind: "unchanged" });
  });
});
