/**
 * Counts for the last line, written to the file that MUSTER_TEST_TALLY names: the run is a process
 * of its own, so that a crash in it cannot take the servers or the verdict along.
 */
import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";
import type { Tally } from "./tally.ts";

export class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const path = process.env["MUSTER_TEST_TALLY"];
    if (path === undefined) return;
    writeFileSync(path, JSON.stringify(tallyOf(modules, unhandled.length)));
  }
}

function tallyOf(modules: readonly TestModule[], unhandled: number): Tally {
  const tally = { passed: 0, failed: unhandled, skipped: 0 };
  for (const module of modules) {
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === "passed") tally.passed += 1;
      else if (state === "failed") tally.failed += 1;
      else tally.skipped += 1;
    }
    tally.failed += failuresOutsideTests(module);
  }
  return tally;
}

/** Files that did not load and hooks that threw: no test says so. */
function failuresOutsideTests(module: TestModule): number {
  const suites = [...module.children.allSuites()];
  return [module, ...suites].filter((part) => part.errors().length > 0).length;
}

// Vitest looks for the default export of a reporter's file.
// oxlint-disable-next-line import/no-default-export
export default TallyReporter;
