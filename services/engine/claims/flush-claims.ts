/**
 * Many claims in one transaction, in the order that all of Muster locks in:
 *
 *   keys → holders → selected rows (skipping locked ones) and everything the grants
 *   touch → decisions → writes → answers under the keys.
 *
 * Calls whose whole predicate is equal share one selection, so that n callers cost one
 * ranked scan with a limit of n and get n different items.
 */
import { noteCalls } from "../../../db/stores/call-store.ts";
import type { Head } from "../../../db/stores/claimed-head-store.ts";
import { type IdempotencyRecord, keyText, type SavedAnswer } from "../../../db/stores/idempotency-store.ts";
import type { Handle } from "../../../db/statement.ts";
import type { Tail } from "../../../db/transaction.ts";
import { isHolder } from "../../core/claim.ts";
import type { World } from "../../core/world.ts";
import { rowsOfCalls } from "../audit/rows-of-calls.ts";
import type { EngineDeps } from "../deps.ts";
import { replayOf } from "../idempotency.ts";
import { afterCommit, saveWorld, transact, type Wider } from "../writing/transact.ts";
import type { ClaimCall, ClaimOutcome, GrantedAnswer } from "./claim-call.ts";
import { warnAbout } from "./claim-warnings.ts";
import { grantClaim, type GrantVerdict } from "./grant-claim.ts";
import { openProbing } from "./probing.ts";
import { type OpenedFlush, openFlush } from "./open-flush.ts";

/** A batch hardly waits for a lock: whoever is slow is retried alone. */
const BATCH_LOCK_TIMEOUT_MS = 100;

export async function flushClaims(deps: EngineDeps, calls: readonly ClaimCall[]): Promise<ClaimOutcome[]> {
  const { outcomes, world } = await transact(deps, (tx, wider, tail) =>
    runClaims(deps, tx, calls, wider, tail),
  );
  afterCommit(deps, world);
  return outcomes;
}

interface Flushed {
  readonly outcomes: ClaimOutcome[];
  readonly world: World;
}

async function runClaims(
  deps: EngineDeps,
  tx: Handle,
  calls: readonly ClaimCall[],
  wider: Wider,
  tail: Tail,
): Promise<Flushed> {
  const outcomes = new Map<ClaimCall, ClaimOutcome>();
  const present = calls.filter((call) => !call.signal.aborted);
  for (const call of calls) if (call.signal.aborted) outcomes.set(call, { kind: "gone" });
  const isAlone = calls.length === 1;
  const opened = await openFlush(deps, tx, {
    claims: present,
    records: present.flatMap((call) => (call.record === null ? [] : [call.record])),
    closing: [],
    alone: isAlone,
    lockTimeoutMs: isAlone ? undefined : BATCH_LOCK_TIMEOUT_MS,
    wider,
  });
  const { answers } = await decideClaims(deps, tx, present, opened, outcomes);
  wider.count(opened.world.tallies.keys());
  tail.send(saveWorld(tx, opened.world, answers));
  tail.send(noteCalls(tx, rowsOfCalls(present.filter((call) => isTaken(outcomes.get(call))))));
  return { outcomes: calls.map((call) => outcomes.get(call) ?? { kind: "gone" }), world: opened.world };
}

function isTaken(outcome: ClaimOutcome | undefined): boolean {
  return outcome?.kind === "granted" || outcome?.kind === "replayed";
}

async function replay(tx: Handle, record: IdempotencyRecord): Promise<ClaimOutcome> {
  const stored = await replayOf(tx, record);
  return { kind: "replayed", answer: stored.answer as unknown as GrantedAnswer };
}

/** Decides claims over the world that their flush has opened. Their outcomes go into `outcomes`. */
export async function decideClaims(
  deps: EngineDeps,
  tx: Handle,
  calls: readonly ClaimCall[],
  { taken, held, picked, drained, breakers, world, heads }: OpenedFlush,
  outcomes: Map<ClaimCall, ClaimOutcome>,
): Promise<{ readonly answers: SavedAnswer[] }> {
  const { identity } = deps.settings;
  const fresh: ClaimCall[] = [];
  for (const call of calls) {
    if (call.record === null || taken.has(keyText(call.record))) fresh.push(call);
    else outcomes.set(call, await replay(tx, call.record));
  }
  const verdicts = new Map<ClaimCall, GrantVerdict>();
  const probing = await openProbing(tx, breakers, [...picked.values()], world);
  for (const call of fresh) {
    const itemId = picked.get(call);
    const isDrained = drained.has(call.agent);
    if (itemId === undefined) {
      if (isDrained) verdicts.set(call, { kind: "refused", code: "agent_drained" });
      continue;
    }
    // Its root is broken, and another claim is the probe.
    if (call.target.kind === "selector" && !probing.lets(itemId)) continue;
    const others = held.filter((one) => isHolder(one, call, identity)).map((one) => one.itemId);
    const verdict = grantClaim(world, { ...call, isDrained }, itemId, others, identity);
    verdicts.set(call, verdict);
    if (verdict.kind === "granted" && !verdict.refreshed) probing.took(verdict.state);
  }
  await probing.save();
  return { answers: await answer(tx, fresh, verdicts, { now: world.now, heads, breakers }, outcomes) };
}

async function answer(
  tx: Handle,
  calls: readonly ClaimCall[],
  verdicts: ReadonlyMap<ClaimCall, GrantVerdict>,
  { now, heads, breakers }: Pick<OpenedFlush, "heads" | "breakers"> & { readonly now: number },
  outcomes: Map<ClaimCall, ClaimOutcome>,
): Promise<SavedAnswer[]> {
  const granted = [...verdicts].flatMap(([call, one]) =>
    one.kind === "granted" ? [{ call, before: one.before }] : [],
  );
  const byId = granted.filter(({ call }) => call.target.kind === "item");
  const warnings = await warnAbout(tx, byId, now, breakers);
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

function isLost(verdict: GrantVerdict): boolean {
  if (verdict.kind === "not_startable") return verdict.refusal.code === "resource_unavailable";
  return verdict.kind === "held";
}

function toOutcome(
  call: ClaimCall,
  verdict: GrantVerdict | undefined,
  heads: ReadonlyMap<string, Head>,
  warnings: readonly string[],
): ClaimOutcome {
  if (verdict === undefined) return { kind: "empty" };
  if (verdict.kind !== "granted") {
    // Lost within the flush to another claim, or what it needs was: the selector looks again, its caller never
    // hears of it.
    return call.target.kind === "selector" && isLost(verdict) ? { kind: "empty" } : verdict;
  }
  const { state, started, refreshed } = verdict;
  const { claim } = state;
  if (claim === null) throw new Error("a granted claim is not there");
  return {
    kind: "granted",
    refreshed,
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
      warnings: [...warnings, ...state.lostLeases.map((key) => `an operator took ${key} away from the item`)],
      item: { ...heads.get(state.id), role: state.role },
    },
  };
}
