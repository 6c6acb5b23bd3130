/**
 * Ends claims that have lapsed. The clock is asked outside of the transaction; inside,
 * a claim is ended only if it still has the judged fence and has still expired, so a
 * holder that renewed in between keeps it.
 */
import {
  type ExpiredClaim,
  findExpired,
  findExpiredInTheWay,
  recordSweepRun,
} from "../../../db/stores/lapsed-store.ts";
import type { SelectorFilter } from "../../../db/stores/readiness-sql.ts";
import { isLapsed } from "../../core/claim.ts";
import { endTenure } from "../../core/tenure.ts";
import { NOBODY } from "../../core/world.ts";
import { settleProbes } from "../breakers/settle-probes.ts";
import type { EngineDeps } from "../deps.ts";
import type { SweepReport } from "../engine.ts";
import { afterCommit, lockPart, saveWorld, transact } from "../writing/transact.ts";

/** A lapsed holder has a third of its ttl, at most this, to come back before a sweep frees the item. */
export const SWEEP_GRACE_MAX_MS = 60_000;
const BATCH = 50;

/** What a sweep loop calls: frees what nobody has asked for since it lapsed. */
export async function sweepClaims(deps: EngineDeps, signal: AbortSignal): Promise<SweepReport> {
  const expired = await findExpired(deps.db, SWEEP_GRACE_MAX_MS, BATCH);
  const report = signal.aborted ? NOTHING : await freeLapsed(deps, expired);
  await settleProbes(deps);
  await recordSweepRun(deps.db, report.freed);
  // More only if this batch got somewhere: holders that the clock calls alive must not spin the loop.
  return { ...report, more: expired.length === BATCH && report.freed > 0 };
}

/** Frees, without grace, what lapsed and stands in a selector's way. Returns how many it freed. */
export async function freeLapsedInTheWay(deps: EngineDeps, filter: SelectorFilter): Promise<number> {
  const { freed } = await freeLapsed(deps, await findExpiredInTheWay(deps.db, filter, BATCH));
  return freed;
}

const NOTHING = { freed: 0, requeued: 0, dead: 0 };

/** Frees those of the claims that have lapsed: what they hold may be what somebody needs. Returns how many. */
export async function freeIfLapsed(
  deps: EngineDeps,
  claims: readonly Omit<ExpiredClaim, "now">[],
): Promise<number> {
  if (claims.length === 0) return 0;
  const now = await deps.time.now();
  const { freed } = await freeLapsed(
    deps,
    claims.map((claim) => ({ ...claim, now })),
  );
  return freed;
}

async function freeLapsed(
  deps: EngineDeps,
  expired: readonly ExpiredClaim[],
): Promise<{ freed: number; requeued: number; dead: number }> {
  const lapsed = await judgeLapsed(deps, expired);
  if (lapsed.size === 0) return NOTHING;
  const { world, counts } = await transact(deps, async (tx, wider) => {
    const ids = [...lapsed.keys()];
    const locked = await lockPart(deps, tx, wider, { closing: ids }, { items: new Set(ids), enters: false });
    const done = { freed: 0, requeued: 0, dead: 0 };
    for (const [itemId, { fence, seenDead }] of lapsed) {
      const item = locked.find(itemId);
      if (!item?.claim || item.fence !== fence || !isLapsed(item.claim, locked.now, seenDead)) continue;
      const end = endTenure(locked, itemId, { reason: "expired", requeue: true, detail: null, by: NOBODY });
      done.freed += 1;
      done.requeued += Number(end.requeued);
      done.dead += Number(end.dead);
    }
    await saveWorld(tx, locked);
    return { world: locked, counts: done };
  });
  afterCommit(deps, world);
  return counts;
}

async function judgeLapsed(
  deps: EngineDeps,
  expired: readonly ExpiredClaim[],
): Promise<Map<string, { fence: number; seenDead: boolean }>> {
  const lapsed = new Map<string, { fence: number; seenDead: boolean }>();
  const [first] = expired;
  if (first === undefined) return lapsed;
  const seen = await deps.coordination.claimClock.look(
    expired.map(({ itemId, fence, ttlMs }) => ({ key: itemId, fence, ttlMs })),
    first.now,
  );
  for (const [index, claim] of expired.entries()) {
    const seenDead = seen[index]?.state === "dead";
    const overdue = claim.expiresAt + claim.ttlMs / 2 <= claim.now;
    if (seenDead || overdue) lapsed.set(claim.itemId, { fence: claim.fence, seenDead });
  }
  return lapsed;
}
