/** A Redis that was wiped, restarted without its data or failed over: it vouches for nobody for a while. */
import { fault, type Finding, type Patient, well } from "../finding.ts";

const CHECK = "redis memory";

export async function lookAtRedisMemory({ diagnosis }: Patient): Promise<Finding> {
  const { remembersSinceMs } = await diagnosis.coordination();
  if (remembersSinceMs === undefined) return well(CHECK, "not known: Redis is away, or does not tell");
  const { claims, ttlMs } = await diagnosis.forgottenClaims(remembersSinceMs);
  if (claims === 0) return well(CHECK, "reaches back to every claim that lives");
  const since = remembersSinceMs === null ? "just now" : new Date(remembersSinceMs).toISOString();
  const detail = `lost what it remembered (${since}), and ${claims === 1 ? "1 claim is" : `${claims} claims are`} older: should a holder die now, its item is taken over up to half a ttl late`;
  const mend = `It mends by itself within ${Math.ceil(ttlMs / 1_000)} s, the longest ttl among them. Find out who ran FLUSHALL, or what restarted it; appendonly yes keeps it over restarts.`;
  return fault(CHECK, detail, mend);
}
