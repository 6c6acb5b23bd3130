/** Files that hold what the wire looks like, so that a change of it is a change somebody made on purpose. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../golden/", import.meta.url));

/** Set by hand, for one run: `MUSTER_UPDATE_GOLDEN=1` writes the files. */
export const UPDATE_GOLDEN = process.env["MUSTER_UPDATE_GOLDEN"] === "1";

/** The stored value, or undefined when there is none yet. */
export function readGolden(name: string): unknown {
  const path = `${FOLDER}${name}.json`;
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as unknown) : undefined;
}

/** Stores a value, readable line by line in a diff. */
export function writeGolden(name: string, value: unknown): void {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(`${FOLDER}${name}.json`, `${JSON.stringify(value, null, 2)}\n`);
}
