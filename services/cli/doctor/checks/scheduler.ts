/** A fleet without a scheduler: its APIs sweep in its stead, late, and nothing else is on time. */
import { fault, type Finding, type Patient, well } from "../finding.ts";

const CHECK = "scheduler";

export async function lookAtScheduler({ diagnosis }: Patient): Promise<Finding> {
  const processes = await diagnosis.processes();
  const schedulers = processes.filter(({ kind }) => kind !== "api");
  if (schedulers.length > 0) return well(CHECK, `${schedulers.length} running`);
  if (processes.length === 0) return well(CHECK, "nothing serves this database right now");
  return fault(
    CHECK,
    `${processes.length} API processes run, and no scheduler`,
    "Start at least one `muster scheduler` on the same database and Redis.",
  );
}
