/**
 * What one claim does to the working set: ends the tenure in its way, releases what its
 * holder held before, grants, starts. Judged before anything is changed, so a refusal
 * leaves the set as it was.
 */
import { type AdvanceRefusal, decideAdvance } from "../../core/advance.ts";
import { type ClaimVerdict, type Identity, isHolder, judgeClaim, TENURE_MS } from "../../core/claim.ts";
import { judgeGate } from "../../core/gate.ts";
import { clearClaim } from "../../core/clear-claim.ts";
import { judgeLeases, takeLeases } from "../../core/leases/hold-leases.ts";
import type { ItemState } from "../../core/state.ts";
import { endTenure, grant, renew, type TenureEndReport } from "../../core/tenure.ts";
import { NOBODY, type World } from "../../core/world.ts";
import type { ClaimCall, HeldVerdict, RefusalCode } from "./claim-call.ts";

export type GrantVerdict =
  | {
      readonly kind: "granted";
      readonly state: ItemState;
      /** As it stood when it was claimed. */
      readonly before: ItemState;
      readonly started: boolean;
      /** Its own holder claimed it again: the tenure went on. */
      readonly refreshed: boolean;
    }
  | { readonly kind: "not_found" }
  | { readonly kind: "held"; readonly verdict: HeldVerdict; readonly fence: number; readonly ttlMs: number }
  | { readonly kind: "refused"; readonly code: RefusalCode }
  | { readonly kind: "not_startable"; readonly refusal: AdvanceRefusal };

type Takeable = Exclude<ClaimVerdict, { kind: "held" | "terminal" | "dead" | "tenure_over" }>;

const REFUSALS = { terminal: "terminal_item", dead: "item_dead", tenure_over: "tenure_over" } as const;

/** @param others items that this holder holds already */
export function grantClaim(
  world: World,
  call: ClaimCall & { readonly isDrained?: boolean },
  itemId: string,
  others: readonly string[],
  identity: Identity,
): GrantVerdict {
  const item = world.find(itemId);
  if (!item) return { kind: "not_found" };
  const verdict = judgeClaim(item, call, world.now, call.deadFence === item.fence, identity);
  if (verdict.kind === "held") {
    return { kind: "held", verdict, fence: item.fence, ttlMs: item.claim?.ttlMs ?? 0 };
  }
  if (verdict.kind === "terminal" || verdict.kind === "dead" || verdict.kind === "tenure_over") {
    return { kind: "refused", code: REFUSALS[verdict.kind] };
  }
  // What it holds already it may finish, from another session too.
  if (call.isDrained === true && verdict.kind === "grant") return { kind: "refused", code: "agent_drained" };
  const displaces = verdict.kind === "grant" && verdict.displaces;
  const against =
    startObstacle(world, item, call, displaces) ??
    obstacleOfOwn(world, call, itemId, others, identity, displaces) ??
    leaseObstacle(world, call, item, verdict, others, identity);
  if (against !== null) return { kind: "not_startable", refusal: against };
  return take(world, call, item, verdict, others, identity);
}

/** `start: true` takes only what can be started; anything else is refused before the claim is given. */
function startObstacle(
  world: World,
  item: ItemState,
  call: ClaimCall,
  displaces: boolean,
): AdvanceRefusal | null {
  // Displacing hands work back to the queue first, so it has to be startable from there.
  const startsFromQueue = item.role === "queue" || (item.role === "work" && displaces);
  if (!call.start || (item.role !== "blocked" && !startsFromQueue)) return null;
  if (item.role === "blocked") {
    return { code: "invalid_transition", message: "the item is blocked: resume it first", from: item.role };
  }
  if (item.blockers > 0) return { code: "dependency_blocked", blockers: item.blockers, to: "work" };
  const obstacle = judgeGate(world, { ...item, role: "queue" }, "work", false);
  return obstacle === null ? null : { code: "gate_blocked", obstacle, from: item.role, to: "work" };
}

/**
 * What the holder lets go of goes back to the queue, and the item may wait for that very thing.
 * Tried on a fork: found out later, the start would be refused with half of the claim done.
 */
function obstacleOfOwn(
  world: World,
  call: ClaimCall,
  itemId: string,
  others: readonly string[],
  identity: Identity,
  displaces: boolean,
): AdvanceRefusal | null {
  if (!call.start || others.every((other) => other === itemId)) return null;
  const fork = world.fork();
  releaseOthers(fork, call, itemId, others, identity);
  return startObstacle(fork, fork.get(itemId), call, displaces);
}

/**
 * What it has to have in work: taken when the claim starts it, and when work goes on that
 * nobody held. Judged as it will be when whoever lapsed is gone and the holder has let go of
 * what it held before.
 */
function leaseObstacle(
  world: World,
  call: ClaimCall,
  item: ItemState,
  verdict: Takeable,
  others: readonly string[],
  identity: Identity,
): AdvanceRefusal | null {
  const goesOn = item.role === "work" && verdict.kind === "grant";
  if (!call.start && !goesOn) return null;
  const { requirements } = world.leases.declaredBy(item);
  if (requirements.length === 0) return null;
  const fork = world.fork();
  if (verdict.kind === "grant" && verdict.displaces) expire(fork, item.id);
  releaseOthers(fork, call, item.id, others, identity);
  const { role } = fork.get(item.id);
  const enters = role === "queue" && call.start;
  if (!enters && !(role === "work" && verdict.kind === "grant")) return null;
  const contended = judgeLeases(fork, fork.get(item.id));
  if (contended === null) return null;
  // Who holds the item already waits in line for what is taken.
  const waits = verdict.kind === "refresh";
  if (waits) {
    world.leases.wait(
      item.id,
      requirements.map(({ key }) => key),
    );
  }
  return { code: "resource_unavailable", contended, position: waits ? contended.ahead + 1 : null };
}

function expire(world: World, id: string): TenureEndReport {
  return endTenure(world, id, { reason: "expired", requeue: true, detail: null, by: NOBODY });
}

function take(
  world: World,
  call: ClaimCall,
  item: ItemState,
  verdict: Takeable,
  others: readonly string[],
  identity: Identity,
): GrantVerdict {
  if (verdict.kind === "grant" && verdict.displaces) {
    if (expire(world, item.id).dead) return { kind: "refused", code: "item_dead" };
    // Its closing was only withheld for the sake of the holder who is gone.
    if (world.get(item.id).role === "terminal") return { kind: "refused", code: "terminal_item" };
  }
  releaseOthers(world, call, item.id, others, identity);
  // So it is when the holder's own claim below it was all that kept both open.
  if (world.get(item.id).role === "terminal") return { kind: "refused", code: "terminal_item" };
  if (verdict.kind === "refresh") renew(world, item.id, cappedExpiry(world, item, call.ttlMs), call.ttlMs);
  else give(world, call, item, verdict.kind === "take_over");
  if (verdict.kind === "grant" && world.get(item.id).role === "work") takeLeases(world, item.id, call.agent);
  const started = call.start && start(world, call, item.id);
  return {
    kind: "granted",
    state: world.get(item.id),
    before: item,
    started,
    refreshed: verdict.kind === "refresh",
  };
}

/** A tenure that changes session goes on under a new fence, from its first claim on. */
function give(world: World, call: ClaimCall, item: ItemState, takesOver: boolean): void {
  // Nobody lets go of the item here, so nothing happens that waits for its release.
  if (takesOver) clearClaim(world, item.id, "released", "taken over by another session of the same agent");
  const kept = takesOver ? item.claim?.originalClaimedAt : undefined;
  grant(world, item.id, {
    agent: call.agent,
    session: call.session,
    parentAgent: call.parentAgent,
    by: call.author,
    ttlMs: call.ttlMs,
    ...(kept === undefined ? {} : { originalClaimedAt: kept }),
  });
}

/** The tenure cap counts from the first claim, whatever is asked for. */
function cappedExpiry(world: World, item: ItemState, ttlMs: number): number {
  const first = item.claim?.originalClaimedAt ?? world.now;
  return Math.min(world.now + ttlMs, first + TENURE_MS);
}

function releaseOthers(
  world: World,
  call: ClaimCall,
  itemId: string,
  others: readonly string[],
  identity: Identity,
): void {
  for (const other of others) {
    const held = world.find(other);
    if (other === itemId || !held?.claim || !isHolder(held.claim, call, identity)) continue;
    endTenure(world, other, {
      reason: "released",
      requeue: true,
      detail: "claimed another item",
      by: call.author,
    });
  }
}

function start(world: World, call: ClaimCall, itemId: string): boolean {
  const item = world.get(itemId);
  if (item.role !== "queue") return false;
  const verdict = decideAdvance(
    world,
    {
      itemId,
      trigger: "start",
      summary: null,
      label: null,
      writer: { agent: call.agent, session: call.session, fence: item.fence },
      by: call.author,
      failure: { class: "item", reason: null },
      operator: false,
      random: 0,
    },
    { now: world.now, seenDead: false, latestEnd: null, identity: "session" },
  );
  if (verdict.kind === "refused")
    throw new Error(`a startable item refused to start: ${verdict.refusal.code}`);
  return true;
}
