/** Pools without a free connection: of a process, or of the whole database server. */
import { fault, type Finding, type Patient, well } from "../finding.ts";
import { FULL_MEND } from "./database.ts";

const CHECK = "pool";
/** Above this share a start of one more process may fail. */
const USED_SHARE_MAX = 0.9;

export async function lookAtPool({ diagnosis }: Patient): Promise<Finding> {
  const server = await diagnosis.connections();
  if (server === null) return well(CHECK, "the embedded database has one connection");
  const { used, max } = server;
  if (used > max * USED_SHARE_MAX) {
    return fault(CHECK, `${used} of the ${max} connections of PostgreSQL are in use`, FULL_MEND);
  }
  const full = (await diagnosis.processes()).filter(({ pool }) => pool !== null && pool.waiting > 0);
  if (full.length === 0) return well(CHECK, `${used} of ${max} connections of PostgreSQL are in use`);
  const said = full.map(
    ({ kind, pid, host, pool }) =>
      `${kind} ${pid} on ${host} has lent all ${pool?.max ?? 0} of its connections and lets ${pool?.waiting ?? 0} calls wait`,
  );
  const mend = "Run more API processes, and look in pg_stat_activity for statements that take long.";
  return fault(CHECK, said.join("; "), mend);
}
