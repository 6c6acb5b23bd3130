import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  BOUNDARY_EVENT_TYPES,
  CONTROL_EVENT_TYPES,
  EVENT_TYPES,
  SYNC_REASONS,
} from "../../../services/contract/events.ts";

it("the page about events has every event and every reason, in the words of the contract", () => {
  const page = readFileSync(new URL("../../../docs/events.md", import.meta.url), "utf8");
  const rows = page.split("\n").map((line) => line.replace(/\s+\|/g, " |"));
  const all = { ...EVENT_TYPES, ...BOUNDARY_EVENT_TYPES, ...CONTROL_EVENT_TYPES, ...SYNC_REASONS };
  expect(rows).toEqual(
    expect.arrayContaining(Object.entries(all).map(([name, text]) => `| \`${name}\` | ${text} |`)),
  );
  const named = rows.flatMap((row) => /^\| `([a-z]+[._][a-z_.]+)` \|/.exec(row)?.[1] ?? []);
  expect(named.toSorted()).toEqual(Object.keys(all).toSorted());
});
