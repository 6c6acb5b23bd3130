/**
 * Writes `docs/api/openapi.json` from the route table; with `--check` only says whether it is
 * what the table says, and exits with 1 if not.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { openApiDocument } from "../services/api/rest/openapi.ts";
import { ROUTES } from "../services/api/rest/routes.ts";

const target = new URL("../docs/api/openapi.json", import.meta.url);
const text = `${JSON.stringify(openApiDocument(ROUTES), null, 2)}\n`;

if (process.argv.includes("--check")) {
  const isCurrent = sameDocument(readFileSync(target, "utf8"), text);
  if (!isCurrent) console.error("docs/api/openapi.json is not what the routes say: run npm run openapi");
  process.exitCode = isCurrent ? 0 : 1;
} else {
  writeFileSync(target, text);
}

/** Apart from white space, which is the formatter's. */
function sameDocument(left: string, right: string): boolean {
  return JSON.stringify(JSON.parse(left)) === JSON.stringify(JSON.parse(right));
}
