/**
 * Tenures: granting a claim, renewing it, ending it.
 *
 *          grant                  renew
 *   free ────────▶ held ──────────────────▶ held
 *    ▲              │ expiry passes: lapsed; the holder may still renew or finish,
 *    │              ▼ until somebody displaces it or a sweep frees it
 *    └────── release · finish · expire · revoke · fail      (fence + 1, always)
 *
 * Whatever ends a tenure goes through {@link endTenure}, so that sweep, displacement and
 * agents count attempts by the same rules.
 */
import { TENURE_MS } from "./claim.ts";
import { clearClaim } from "./clear-claim.ts";
import { cascade, closeWithheld, type CascadeReport } from "./cascade.ts";
import { moveItem } from "./move.ts";
import { judgeFailure } from "./retry.ts";
import type { EndReason, Holder, ItemState } from "./state.ts";
import { type Author, NOBODY, type World } from "./world.ts";

export interface Grant extends Holder {
  readonly parentAgent: string | null;
  readonly ttlMs: number;
  /** Who claims, as it is written down. */
  readonly by?: Author;
  /** Kept over a change of session of one agent, else the instant of this claim. */
  readonly originalClaimedAt?: number;
}

/** Gives a free item to a holder. The caller has judged that it may. */
export function grant(world: World, id: string, to: Grant): ItemState {
  const before = world.get(id);
  const fence = before.fence + 1;
  const originalClaimedAt = to.originalClaimedAt ?? world.now;
  const after = world.update(id, {
    claim: {
      agent: to.agent,
      session: to.session,
      claimedAt: world.now,
      originalClaimedAt,
      expiresAt: Math.min(world.now + to.ttlMs, originalClaimedAt + TENURE_MS),
      ttlMs: to.ttlMs,
    },
    fence,
    availableAt: null,
  });
  world.opened.push({
    itemId: id,
    fence,
    agent: to.agent,
    session: to.session,
    parentAgent: to.parentAgent,
    by: to.by ?? NOBODY,
    claimedAt: world.now,
  });
  world.events.push({
    type: "claim.granted",
    itemId: id,
    rootId: after.rootId,
    data: { fence, agent: to.agent },
  });
  return after;
}

/** Moves the expiry of a live tenure. No event and no version: a heartbeat must disturb nothing. */
export function renew(world: World, id: string, expiresAt: number, ttlMs: number): ItemState {
  const { claim } = world.get(id);
  if (!claim) throw new Error("only a held item is renewed");
  return world.update(id, { claim: { ...claim, claimedAt: world.now, expiresAt, ttlMs } });
}

export interface TenureEnd {
  readonly reason: Exclude<EndReason, "completed">;
  /** Hand the item back to the queue if it is a leaf in work. An explicit release leaves the role as it is. */
  readonly requeue: boolean;
  readonly detail: string | null;
  readonly by: Author;
  /** Not offered before then. */
  readonly waitMs?: number;
  /** A number in [0, 1) for the backoff. */
  readonly random?: number;
}

export interface TenureEndReport extends CascadeReport {
  readonly requeued: boolean;
  readonly dead: boolean;
}

/** Ends a tenure without finishing the item, and does what the item's policy says. */
export function endTenure(world: World, id: string, end: TenureEnd): TenureEndReport {
  const report: CascadeReport = { events: [], unblocked: [] };
  clearClaim(world, id, end.reason, end.detail);
  const state = world.get(id);
  // A container whose closing was only withheld has nothing left to do: it closes below.
  const isLeaf = state.openChildren === 0 && !state.closeWithheld;
  const inPhase = state.role === "work" || state.role === "review";
  let dead = false;
  let requeued = false;
  if (end.reason === "expired" && isLeaf && inPhase) {
    dead = countExpiry(world, state, report);
  }
  if (!dead && end.requeue && isLeaf && state.role === "work" && keepsMoving(world, state, end)) {
    requeueItem(world, state, end.by, triggerOf(end.reason), report);
    requeued = true;
  }
  if (!dead && end.waitMs !== undefined && end.waitMs > 0) {
    world.update(id, { availableAt: world.now + end.waitMs });
  }
  closeWithheld(world, id, report);
  return { ...report, requeued, dead };
}

/** `on_expiry: hold` keeps an expired item in work, for a person or a planner to look at. */
function keepsMoving(world: World, state: ItemState, end: TenureEnd): boolean {
  return end.reason !== "expired" || world.policyOf(state).onExpiry === "requeue";
}

function triggerOf(reason: EndReason): string {
  if (reason === "expired") return "expire";
  return reason === "revoked" ? "revoke" : "release";
}

function countExpiry(world: World, state: ItemState, report: CascadeReport): boolean {
  const verdict = judgeFailure("expiry", state.attempts, world.policyOf(state), 0);
  world.update(state.id, { attempts: verdict.attempts });
  if (verdict.kind === "retry") return false;
  bury(world, state.id, "expire", "the last allowed attempt expired", NOBODY, report);
  return true;
}

function requeueItem(
  world: World,
  state: ItemState,
  by: Author,
  trigger: string,
  report: CascadeReport,
): void {
  const unblocked = moveItem(world, state.id, {
    role: "queue",
    outcome: null,
    label: null,
    trigger,
    summary: null,
    by,
  });
  report.unblocked.push(...unblocked);
}

/** Past the limit an item is dead: out of every queue until a person brings it back. */
export function bury(
  world: World,
  id: string,
  trigger: string,
  summary: string,
  by: Author,
  report: CascadeReport,
  label = "dead",
): void {
  const { role } = world.get(id);
  const unblocked = moveItem(world, id, {
    role: "blocked",
    outcome: null,
    label,
    trigger,
    summary,
    by,
  });
  // A person who brings it back puts it at the start, not into a phase whose work was lost.
  world.update(id, { dead: true, previousRole: role === "review" ? "review" : "queue", availableAt: null });
  const after = world.get(id);
  world.events.push({
    type: "item.dead",
    itemId: id,
    rootId: after.rootId,
    data: { attempts: after.attempts, label },
  });
  const above = cascade(world, id, role, by, null);
  report.events.push(...above.events);
  report.unblocked.push(...unblocked, ...above.unblocked);
}
