/**
 * Looks at probes that are over: one that got through closes its breaker, any other puts the
 * next one off. Asked by every sweep, and by a claim that a breaker leaves empty; the row says
 * which probe is meant, so settling it twice changes nothing.
 */
import { closeBreaker, findEndedProbes, postponeProbe } from "../../../db/stores/breaker-store.ts";
import { judgeProbe } from "../../core/breaker.ts";
import type { EngineDeps } from "../deps.ts";
import { CLAIMABLE } from "../writing/transact.ts";

/** Answers how many breakers it closed. */
export async function settleProbes(deps: EngineDeps): Promise<number> {
  let closed = 0;
  for (const probe of await findEndedProbes(deps.db)) {
    const verdict = judgeProbe(probe.probes, probe.end);
    if (verdict.kind === "wait") await postponeProbe(deps.db, probe, verdict.probes, verdict.waitMs);
    else if (await closeBreaker(deps.db, probe.rootId, probe, "probe")) closed += 1;
  }
  if (closed > 0) deps.coordination.wakeUps.publish([CLAIMABLE]);
  return closed;
}
