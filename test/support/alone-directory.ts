/**
 * Data directories in which Muster alone has run before. Making an embedded database takes
 * seconds, copying one does not: each test file makes one and its tests work on copies.
 */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { spawnMuster } from "./processes.ts";
import { temporaryFolder } from "./temporary-folder.ts";

let template: Promise<string> | undefined;

async function makeTemplate(): Promise<string> {
  const folder = temporaryFolder();
  process.once("exit", () => folder[Symbol.dispose]());
  const path = join(folder.path, "data");
  const server = await spawnMuster(["start"], { MUSTER_DATA_DIR: path, MUSTER_PORT: "0" });
  await server.stop();
  return path;
}

/** Copies an empty, migrated data directory to `path`. */
export async function prepareDataDirectory(path: string): Promise<void> {
  template ??= makeTemplate();
  cpSync(await template, path, { recursive: true });
}
