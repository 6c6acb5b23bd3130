/** The values of the chart: each with its meaning, its schema and its row in the table. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readmeOf, readValues } from "../../scripts/chart/values-table.ts";
import { CHART } from "./helm.ts";

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
}

const values = readValues(readFileSync(join(CHART, "values.yaml"), "utf8"));
const schema = JSON.parse(readFileSync(join(CHART, "values.schema.json"), "utf8")) as Schema;

const known = new Set(values.map(({ path }) => path));

it("each has a comment that says what it means", () => {
  expect(values.length).toBeGreaterThan(80);
  expect(values.filter(({ meaning }) => meaning === "").map(({ path }) => path)).toEqual([]);
});

it("the schema knows each of them, and nothing else", () => {
  expect(leavesOf(schema, "").toSorted()).toEqual(values.map(({ path }) => path).toSorted());
});

/** Cells are padded by the formatter. */
const words = (text: string): string => text.replaceAll(/ +/g, " ").replaceAll(/-{3,}/g, "---");

it("the README is made from them", () => {
  expect(words(readFileSync(join(CHART, "README.md"), "utf8"))).toBe(words(readmeOf(values)));
});

function leavesOf({ properties }: Schema, prefix: string): string[] {
  return Object.entries(properties ?? {}).flatMap(([key, inner]) =>
    inner.properties === undefined || known.has(`${prefix}${key}`)
      ? [`${prefix}${key}`]
      : leavesOf(inner, `${prefix}${key}.`),
  );
}
