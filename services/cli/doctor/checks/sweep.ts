/** How far behind the sweep is: when anybody swept last, and what it has left lying. */
import { fault, type Finding, type Patient, seconds, well } from "../finding.ts";

const CHECK = "sweep";
/** A sweep is due every second, and an API sweeps itself after ten. */
const SWEEP_LAG_MAX_MS = 30_000;

const MEND =
  "See that a scheduler, or an API, runs and reaches the database; their log says why a sweep fails.";

export async function lookAtSweep({ diagnosis }: Patient): Promise<Finding> {
  const { ageMs, overdue, oldestMs } = await diagnosis.sweep();
  if (overdue > 0) {
    const since = oldestMs === null ? "" : `, the oldest expired ${seconds(oldestMs)} ago`;
    return fault(CHECK, `lapsed claims that nobody has freed: ${overdue}${since}`, MEND);
  }
  return judgeSweepAge(ageMs);
}

export function judgeSweepAge(ageMs: number | null): Finding {
  if (ageMs === null) return well(CHECK, "nobody has swept yet");
  if (ageMs <= SWEEP_LAG_MAX_MS) return well(CHECK, `${seconds(ageMs)} ago`);
  return fault(CHECK, `the last one was ${seconds(ageMs)} ago`, MEND);
}
