/** What comes into a database and goes out of it as a whole. */
import type { Bundle } from "../../contract/root-bundle.ts";
import type { EngineDeps } from "../deps.ts";
import { importGraph } from "../import/import-graph.ts";
import type { ImportReport } from "../import/import-report.ts";
import type { ImportSource } from "../import/source.ts";
import { exportRoot } from "./export-root.ts";
import { type BundleReport, importBundle } from "./import-bundle.ts";

export interface Transfers {
  /** Brings the items of another tool's database over. */
  importGraph(source: ImportSource): Promise<ImportReport>;
  /** Writes a root out, line by line. Answers how many rows of each table. */
  exportRoot(ref: string, write: (line: string) => void): Promise<Readonly<Record<string, number>>>;
  importBundle(bundle: Bundle): Promise<BundleReport>;
}

/** @param version of this build, for the head of what is written */
export function createTransfers(deps: EngineDeps, version: string): Transfers {
  return {
    importGraph: (source) => importGraph(deps, source),
    exportRoot: (ref, write) => exportRoot(deps, ref, version, write),
    importBundle: (bundle) => importBundle(deps, bundle),
  };
}
