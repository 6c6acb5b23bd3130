/** Whether the database can be reached, and has a connection left for those who come. */
import { fault, type Finding, type Patient, reasonOf, well } from "../finding.ts";

const CHECK = "database";
const ANSWER_MS_MAX = 10_000;
/** SQLSTATE: too many connections. */
const FULL = "53300";

export async function lookAtDatabase({ reach }: Patient): Promise<Finding> {
  try {
    await reach(AbortSignal.timeout(ANSWER_MS_MAX));
    return well(CHECK, "reachable");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === FULL) {
      return fault("pool", `PostgreSQL has no connection left: ${reasonOf(error)}`, FULL_MEND);
    }
    const mend = "Check that it runs and takes connections from here, and MUSTER_DATABASE_URL.";
    return fault(CHECK, `not reachable: ${reasonOf(error)}`, mend);
  }
}

export const FULL_MEND =
  "Raise max_connections, put a pooler in front, or run fewer processes; see pg_stat_activity for who has them.";
