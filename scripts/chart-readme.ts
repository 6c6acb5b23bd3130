/** `npm run chart:readme`: writes the table of values into the chart's README. */
import { readFileSync, writeFileSync } from "node:fs";
import { readmeOf, readValues } from "./chart/values-table.ts";

const CHART = new URL("../deploy/helm/muster/", import.meta.url);

writeFileSync(
  new URL("README.md", CHART),
  readmeOf(readValues(readFileSync(new URL("values.yaml", CHART), "utf8"))),
);
