import { accessSync, constants, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Debian keeps the server binaries of Postgres off the PATH; newest version first. */
function postgresFolders(): string[] {
  const base = "/usr/lib/postgresql";
  try {
    const versions = readdirSync(base).toSorted((a, b) => Number(b) - Number(a));
    return versions.map((version) => join(base, version, "bin"));
  } catch {
    return [];
  }
}

/**
 * Path of the first of these programs that the machine has. The distribution's own folders come
 * before the PATH, where a wrapper that starts a system service may hide the real program.
 */
export function findBinary(...names: readonly string[]): string | undefined {
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const folders = [...postgresFolders(), "/usr/bin", ...path];
  for (const name of names) {
    const found = folders.map((folder) => join(folder, name)).find(isExecutable);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
