/** How a run ended, as counted by the reporter and printed as the last line. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/**
 * The last line of `npm test`. `exitCode` is the runner's own verdict: whatever it saw fail that
 * we did not count (a crash, a hook, an unhandled rejection) is at least one failure.
 */
export function verdictOf(tally: Tally | null, exitCode: number): { line: string; exitCode: number } {
  const { passed, failed, skipped } = tally ?? { passed: 0, failed: 0, skipped: 0 };
  const nothingRan = passed + failed === 0;
  const counted = failed === 0 && (exitCode !== 0 || nothingRan) ? 1 : failed;
  const tail = skipped > 0 ? `, ${skipped} skipped` : "";
  return {
    line: `tests: ${passed} passed, ${counted} failed${tail}`,
    exitCode: counted > 0 ? exitCode || 1 : 0,
  };
}
