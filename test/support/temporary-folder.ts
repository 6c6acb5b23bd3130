import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testFolder } from "./run.ts";

export interface TemporaryFolder {
  readonly path: string;
  [Symbol.dispose](): void;
}

/** A folder of a test's own, gone with it. */
export function temporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(testFolder() ?? tmpdir(), "muster-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }) };
}
