/**
 * Many claims in one transaction, in the order that all of Muster locks in:
 *
 *   keys → holders → selected rows (skipping locked ones) and everything the grants
 *   touch → decisions → writes → answers under the keys.
 *
 * Calls whose whole predicate is equal share one selection, so that n callers cost one
 * ranked scan with a limit of n and get n different items.
 */
import { findClaimedHeads } from "../../../db/stores/claimed-head-store.ts";
import { findConcerns, holderKey, lockHolders } from "../../../db/stores/holder-store.ts";
import { keyText, type SavedAnswer, takeKeys } from "../../../db/stores/idempotency-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault } from "../../contract/errors.ts";
import { isHolder } from "../../core/claim.ts";
import type { World } from "../../core/world.ts";
import type { EngineDeps } from "../deps.ts";
import { replayOf } from "../idempotency.ts";
import { afterCommit, lockWorld, saveWorld, transact, type Wider } from "../writing/transact.ts";
import type { ClaimCall, ClaimOutcome, GrantedAnswer } from "./claim-call.ts";
import { warnAbout } from "./claim-warnings.ts";
import { grantClaim, type GrantVerdict } from "./grant-claim.ts";
import { pickItems } from "./pick-items.ts";

/** A batch hardly waits for a lock: whoever is slow is retried alone. */
const BATCH_LOCK_TIMEOUT_MS = 100;

export async function flushClaims(deps: EngineDeps, calls: readonly ClaimCall[]): Promise<ClaimOutcome[]> {
  const alone = calls.length === 1;
  const { outcomes, world } = await transact(deps, (tx, wider) => runClaims(deps, tx, calls, wider, alone));
  if (world !== null) await afterCommit(deps, world);
  return outcomes;
}

interface Flushed {
  readonly outcomes: ClaimOutcome[];
  readonly world: World | null;
}

async function runClaims(
  deps: EngineDeps,
  tx: Handle,
  calls: readonly ClaimCall[],
  wider: Wider,
  alone: boolean,
): Promise<Flushed> {
  const outcomes = new Map<ClaimCall, ClaimOutcome>();
  const present = calls.filter((call) => !call.signal.aborted);
  for (const call of calls) if (call.signal.aborted) outcomes.set(call, { kind: "gone" });
  const fresh = await takeCallKeys(tx, present, outcomes, alone);
  const world = fresh.length === 0 ? null : await decideFresh(deps, tx, fresh, wider, alone, outcomes);
  return { outcomes: calls.map((call) => outcomes.get(call) ?? { kind: "gone" }), world };
}

async function takeCallKeys(
  tx: Handle,
  calls: readonly ClaimCall[],
  outcomes: Map<ClaimCall, ClaimOutcome>,
  alone: boolean,
): Promise<ClaimCall[]> {
  const taken = await takeKeys(
    tx,
    calls.flatMap((call) => (call.record === null ? [] : [call.record])),
    alone ? undefined : BATCH_LOCK_TIMEOUT_MS,
  );
  const fresh: ClaimCall[] = [];
  for (const call of calls) {
    if (call.record === null || taken.has(keyText(call.record))) {
      fresh.push(call);
      continue;
    }
    const stored = await replayOf(tx, call.record);
    outcomes.set(call, { kind: "replayed", answer: stored.answer as unknown as GrantedAnswer });
  }
  return fresh;
}

async function decideFresh(
  deps: EngineDeps,
  tx: Handle,
  calls: readonly ClaimCall[],
  wider: Wider,
  alone: boolean,
  outcomes: Map<ClaimCall, ClaimOutcome>,
): Promise<World> {
  const { identity } = deps.settings;
  const busy = await lockHolders(tx, [...new Set(calls.map((call) => holderKey(call, identity)))], alone);
  if (busy.length > 0) throw fault("db_error", "another claim of the same holder is under way", { retryAfterMs: 50 });
  const { held, particular } = await findConcerns(tx, calls, identity);
  const picked = await pickItems(tx, calls, particular);
  const items = [...picked.values(), ...held.map((one) => one.itemId)];
  const neighbours = held.length > 0 || calls.some((call) => call.start || call.target.kind === "item");
  const world = await lockWorld(deps, tx, [...new Set(items)], wider, neighbours);
  const verdicts = new Map<ClaimCall, GrantVerdict>();
  for (const call of calls) {
    const itemId = picked.get(call);
    if (itemId === undefined) continue;
    const others = held.filter((one) => isHolder(one, call, identity)).map((one) => one.itemId);
    verdicts.set(call, grantClaim(world, call, itemId, others, identity));
  }
  await saveWorld(tx, world, await answer(tx, calls, verdicts, world.now, outcomes));
  return world;
}

async function answer(
  tx: Handle,
  calls: readonly ClaimCall[],
  verdicts: ReadonlyMap<ClaimCall, GrantVerdict>,
  now: number,
  outcomes: Map<ClaimCall, ClaimOutcome>,
): Promise<SavedAnswer[]> {
  const granted = [...verdicts].flatMap(([call, one]) => (one.kind === "granted" ? [{ call, before: one.before }] : []));
  const heads = await findClaimedHeads(
    tx,
    granted.map((one) => one.before.id),
  );
  const byId = granted.filter(({ call }) => call.target.kind === "item");
  const warnings = await warnAbout(tx, byId, now);
  const saved: SavedAnswer[] = [];
  for (const call of calls) {
    const outcome = toOutcome(call, verdicts.get(call), heads, warnings.get(call) ?? []);
    outcomes.set(call, outcome);
    if (call.record === null || outcome.kind !== "granted") continue;
    const stored = outcome.answer as unknown as Record<string, unknown>;
    saved.push({ ...call.record, answer: stored, targetId: outcome.answer.itemId });
  }
  return saved;
}

function toOutcome(
  call: ClaimCall,
  verdict: GrantVerdict | undefined,
  heads: ReadonlyMap<string, Record<string, unknown>>,
  warnings: readonly string[],
): ClaimOutcome {
  if (verdict === undefined) return { kind: "empty" };
  if (verdict.kind !== "granted") {
    // Lost within the flush to a claim by id: the selector looks again, its caller never hears of it.
    return verdict.kind === "held" && call.target.kind === "selector" ? { kind: "empty" } : verdict;
  }
  const { state, started } = verdict;
  const { claim } = state;
  if (claim === null) throw new Error("a granted claim is not there");
  return {
    kind: "granted",
    answer: {
      itemId: state.id,
      session: claim.session,
      claimedBy: claim.agent,
      claimedAt: claim.claimedAt,
      expiresAt: claim.expiresAt,
      originalClaimedAt: claim.originalClaimedAt,
      ttlMs: claim.ttlMs,
      fence: state.fence,
      attempt: state.attempts + 1,
      selectorResolved: call.target.kind === "selector",
      started,
      claimRef: call.claimRef,
      warnings,
      item: { ...heads.get(state.id), role: state.role },
    },
  };
}
