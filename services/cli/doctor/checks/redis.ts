/** Whether Redis can be reached, and keeps what it is given. */
import { fault, type Finding, type Patient, well } from "../finding.ts";

const CHECK = "redis";

export async function lookAtRedis({ diagnosis }: Patient): Promise<Finding> {
  const { state, fault: wrong } = await diagnosis.coordination();
  if (state === "down") {
    const mend =
      "Check that it runs, and MUSTER_REDIS_URL; until it is back, takeovers come half a ttl late.";
    return fault(CHECK, "not reachable", mend);
  }
  if (wrong === undefined) return well(CHECK, "reachable, evicts nothing");
  const mend = wrong.includes("maxmemory-policy")
    ? "Run `CONFIG SET maxmemory-policy noeviction`, and put it into redis.conf."
    : "Change what the message names.";
  return fault(CHECK, wrong, mend);
}
