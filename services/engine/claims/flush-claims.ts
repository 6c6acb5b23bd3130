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
import { openClaims, type OpenedClaims } from "../../../db/stores/holder-store.ts";
import { type IdempotencyRecord, keyText, type SavedAnswer } from "../../../db/stores/idempotency-store.ts";
import type { Handle } from "../../../db/statement.ts";
import type { Tail } from "../../../db/transaction.ts";
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
  const { outcomes, world } = await transact(deps, (tx, wider, tail) =>
    runClaims(deps, tx, calls, wider, tail),
  );
  if (world !== null) afterCommit(deps, world);
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
  tail: Tail,
): Promise<Flushed> {
  const outcomes = new Map<ClaimCall, ClaimOutcome>();
  const present = calls.filter((call) => !call.signal.aborted);
  for (const call of calls) if (call.signal.aborted) outcomes.set(call, { kind: "gone" });
  const { taken, held, particular } = await takeLocks(deps, tx, present, calls.length === 1);
  const fresh: ClaimCall[] = [];
  for (const call of present) {
    if (call.record === null || taken.has(keyText(call.record))) fresh.push(call);
    else outcomes.set(call, await replay(tx, call.record));
  }
  let world: World | null = null;
  if (fresh.length > 0) {
    const picked = await pickItems(tx, fresh, particular);
    world = await decideFresh(deps, tx, { calls: fresh, picked, held }, wider, tail, outcomes);
  }
  return { outcomes: calls.map((call) => outcomes.get(call) ?? { kind: "gone" }), world };
}

/** Keys, then holders, then what they hold. Alone, a busy holder is waited for. */
async function takeLocks(
  deps: EngineDeps,
  tx: Handle,
  calls: readonly ClaimCall[],
  alone: boolean,
): Promise<OpenedClaims> {
  const opened = await openClaims(tx, {
    records: calls.flatMap((call) => (call.record === null ? [] : [call.record])),
    lockTimeoutMs: alone ? undefined : BATCH_LOCK_TIMEOUT_MS,
    holders: calls,
    wait: alone,
    identity: deps.settings.identity,
  });
  if (opened.busy.length > 0) {
    throw fault("db_error", "another claim of the same holder is under way", { retryAfterMs: 50 });
  }
  return opened;
}

async function replay(tx: Handle, record: IdempotencyRecord): Promise<ClaimOutcome> {
  const stored = await replayOf(tx, record);
  return { kind: "replayed", answer: stored.answer as unknown as GrantedAnswer };
}

interface Chosen {
  readonly calls: readonly ClaimCall[];
  readonly picked: ReadonlyMap<ClaimCall, string>;
  readonly held: OpenedClaims["held"];
}

async function decideFresh(
  deps: EngineDeps,
  tx: Handle,
  { calls, picked, held }: Chosen,
  wider: Wider,
  tail: Tail,
  outcomes: Map<ClaimCall, ClaimOutcome>,
): Promise<World> {
  const { identity } = deps.settings;
  const ids = [...new Set(picked.values())];
  const items = [...new Set([...ids, ...held.map((one) => one.itemId)])];
  // Ending other tenures may close what was only waiting for them to end.
  const ends = held.length > 0 || calls.some((call) => call.target.kind === "item");
  const starts = calls.some((call) => call.start) ? "start" : "none";
  const neighbours = ends ? "all" : starts;
  const [world, heads] = await Promise.all([
    lockWorld(deps, tx, items, wider, neighbours),
    findClaimedHeads(tx, ids),
  ]);
  const verdicts = new Map<ClaimCall, GrantVerdict>();
  for (const call of calls) {
    const itemId = picked.get(call);
    if (itemId === undefined) continue;
    const others = held.filter((one) => isHolder(one, call, identity)).map((one) => one.itemId);
    verdicts.set(call, grantClaim(world, call, itemId, others, identity));
  }
  const answers = await answer(tx, calls, verdicts, world.now, heads, outcomes);
  tail.send(saveWorld(tx, world, answers));
  return world;
}

async function answer(
  tx: Handle,
  calls: readonly ClaimCall[],
  verdicts: ReadonlyMap<ClaimCall, GrantVerdict>,
  now: number,
  heads: ReadonlyMap<string, Record<string, unknown>>,
  outcomes: Map<ClaimCall, ClaimOutcome>,
): Promise<SavedAnswer[]> {
  const granted = [...verdicts].flatMap(([call, one]) =>
    one.kind === "granted" ? [{ call, before: one.before }] : [],
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
      warnings,
      item: { ...heads.get(state.id), role: state.role },
    },
  };
}
