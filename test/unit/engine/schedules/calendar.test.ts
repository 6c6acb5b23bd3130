import { describe, expect, it } from "vitest";
import {
  checkRule,
  latestUpTo,
  type Rule,
  upcoming,
} from "../../../../services/engine/schedules/calendar.ts";

const rule = (fields: Partial<Rule>): Rule => ({
  cron: null,
  everySeconds: null,
  startsAt: 0,
  timezone: "Europe/Berlin",
  ...fields,
});
const iso = (instants: readonly number[]): string[] => instants.map((at) => new Date(at).toISOString());
const at = (text: string): number => Date.parse(text);

describe("the calendar of schedules", () => {
  it("moves an instant that a change of the clocks leaves out to the first there is again, once [F-28]", () => {
    const daily = rule({ cron: "30 2 * * *" });
    expect(iso(upcoming(daily, at("2027-03-27T02:00:00Z"), 2))).toEqual([
      "2027-03-28T01:00:00.000Z",
      "2027-03-29T00:30:00.000Z",
    ]);
  });

  it("takes the first of two instants with the same time of day", () => {
    const daily = rule({ cron: "30 2 * * *" });
    expect(iso(upcoming(daily, at("2027-10-30T12:00:00Z"), 2))).toEqual([
      "2027-10-31T00:30:00.000Z",
      "2027-11-01T01:30:00.000Z",
    ]);
  });

  it("counts intervals in real time from where they start", () => {
    const every = rule({ everySeconds: 3_600, startsAt: at("2027-03-28T00:10:00Z") });
    expect(iso(upcoming(every, at("2027-03-28T00:30:00Z"), 2))).toEqual([
      "2027-03-28T01:10:00.000Z",
      "2027-03-28T02:10:00.000Z",
    ]);
  });

  it("finds the latest of many instants without going through them all", () => {
    const minutely = rule({ cron: "* * * * *", timezone: "UTC" });
    const found = latestUpTo(minutely, at("2020-01-01T00:00:00Z"), at("2027-01-01T00:00:30Z"), 2);
    expect(iso(found)).toEqual(["2026-12-31T23:59:00.000Z", "2027-01-01T00:00:00.000Z"]);
  });

  it("refuses zones that are none, rules that cannot be read, and rules that are never met", () => {
    for (const timezone of ["Local", "+02:00", "Mars/Base"])
      expect(() => checkRule(rule({ cron: "0 9 * * *", timezone }))).toThrow("IANA");
    for (const cron of ["x", "* * * * * *", "61 * * * *", "0 0 30 2 *"])
      expect(() => checkRule(rule({ cron }))).toThrow(cron);
  });
});
