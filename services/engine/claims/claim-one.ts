/**
 * One claim from request to result: by id, or by selector until something is found, what
 * stands in the way has been freed, or it is certain that nothing is there.
 */
import { findAnswer } from "../../../db/stores/idempotency-store.ts";
import { selectCandidates } from "../../../db/stores/next-store.ts";
import type { ClaimRefused, ClaimResult } from "../../contract/claiming.ts";
import type { EngineDeps } from "../deps.ts";
import { freeHolders } from "../leases/free-holders.ts";
import { CLAIMABLE } from "../writing/transact.ts";
import { settleProbes } from "../breakers/settle-probes.ts";
import { emptyResult, goneResult, grantedResult, refusedResult } from "./claim-answers.ts";
import type { ClaimCall, ClaimOutcome, GrantedAnswer } from "./claim-call.ts";
import { diagnoseEmpty } from "./empty-answers.ts";
import { freeLapsedInTheWay } from "./free-lapsed.ts";
import type { ClaimLane, ClaimState } from "./claim-lane.ts";
import type { Predicate } from "./predicate.ts";
import { replayState } from "./replay-state.ts";

export interface ClaimedOne {
  readonly result: ClaimResult;
  /** The session that holds it: the caller's own, or the one of the call that is replayed. */
  readonly session: string;
  /** Nothing was there: worth waiting for. */
  readonly empty: boolean;
  readonly nextAt: number | null;
}

export async function claimOne(deps: EngineDeps, state: ClaimState, call: ClaimCall): Promise<ClaimedOne> {
  if (call.target.kind === "selector") return await claimBySelector(deps, state, call, call.target.predicate);
  const outcome = await submitJudged(deps, state.lane, call);
  return await conclude(deps, state, call, outcome);
}

/** Asks the claim clock about a holder whose expiry has passed, and tries again if it is gone. */
async function submitJudged(deps: EngineDeps, lane: ClaimLane, call: ClaimCall): Promise<ClaimOutcome> {
  const first = await lane.submit(call);
  const outcome =
    first.kind === "not_startable" && (await freeHolders(deps, first.refusal))
      ? await lane.submit(call)
      : first;
  if (outcome.kind !== "held" || !outcome.verdict.expired || call.target.kind !== "item") return outcome;
  const now = await deps.time.now();
  const { fence, ttlMs } = outcome;
  const [seen] = await deps.coordination.claimClock.look([{ key: call.target.itemId, fence, ttlMs }], now);
  return seen?.state === "dead" ? await lane.submit({ ...call, deadFence: fence }) : outcome;
}

/** Rows locked by unrelated writes are looked for again this often before the answer is "busy". */
const BUSY_TRIES = 8;
/** And then after so long again, by those who wait. */
const BUSY_WAIT_MS = 250;

async function claimBySelector(
  deps: EngineDeps,
  state: ClaimState,
  call: ClaimCall,
  predicate: Predicate,
): Promise<ClaimedOne> {
  const memoKey = emptyKey(call, predicate);
  const remembered = state.empties.find(memoKey);
  // A repeated call has its answer under its key, however empty the queue is by now.
  if (remembered !== undefined && !(await isReplay(deps, call))) return nothing(call, remembered, false);
  const ticket = deps.coordination.wakeUps.ticket([CLAIMABLE]);
  let kept = false;
  try {
    for (let busy = 0; ;) {
      const outcome = await state.lane.submit(call);
      if (outcome.kind !== "empty") return await conclude(deps, state, call, outcome);
      if (busy < BUSY_TRIES && (await isOffered(deps, call, predicate))) {
        // Somebody holds a lock on what is there, for the length of a commit: step aside, then look again.
        busy += 1;
        await new Promise((resolve) => setTimeout(resolve, deps.random() * 4 * busy));
        continue;
      }
      const why = await diagnoseEmpty(deps, predicate, call.agent);
      // A probe that is over may have opened the way, before any sweep has seen it.
      if (why.pausedRoots > 0 && (await settleProbes(deps)) > 0) continue;
      // Looked at after the reasons were counted: what time alone has freed since the selection
      // has no reason any more, and nothing would wake a waiter for it.
      if ((await freeLapsedInTheWay(deps, predicate.filter)) > 0) continue;
      if (busy < BUSY_TRIES && (await isOffered(deps, call, predicate))) continue;
      const isBusy = busy >= BUSY_TRIES;
      if (!isBusy) {
        state.empties.keep(memoKey, why, ticket);
        kept = true;
      }
      return nothing(call, why, isBusy);
    }
  } finally {
    if (!kept) ticket.close();
  }
}

/** Under which an empty answer to this call is remembered. */
export function emptyKey(call: Pick<ClaimCall, "agent">, predicate: Predicate): string {
  return `${call.agent}\u0001${predicate.key}`;
}

async function isReplay(deps: EngineDeps, call: ClaimCall): Promise<boolean> {
  return call.record !== null && (await findAnswer(deps.db, call.record)) !== null;
}

/** Looks without locks, so that a row locked by an unrelated write makes no false empty. */
async function isOffered(deps: EngineDeps, call: ClaimCall, predicate: Predicate): Promise<boolean> {
  const found = await selectCandidates(deps.db, {
    filter: predicate.filter,
    asker: { agent: call.agent, capabilities: predicate.capabilities },
    roles: predicate.roles,
    containers: predicate.containers,
    startable: predicate.startable,
    ranking: predicate.ranking,
    limit: 1,
  });
  return found.length > 0;
}

function nothing(call: ClaimCall, why: Parameters<typeof emptyResult>[1], busy: boolean): ClaimedOne {
  const result: ClaimRefused = emptyResult(call.claimRef, why, busy);
  // The lock in the way goes without a word: a waiter comes back for it by itself.
  return { result, session: call.session, empty: true, nextAt: busy ? why.now + BUSY_WAIT_MS : why.nextAt };
}

/** What the caller hears of an outcome, and what this process remembers of it. */
export async function conclude(
  deps: EngineDeps,
  state: ClaimState,
  call: ClaimCall,
  outcome: ClaimOutcome,
): Promise<ClaimedOne> {
  if (outcome.kind === "empty") throw new Error("only a selector finds nothing");
  if (outcome.kind !== "granted" && outcome.kind !== "replayed") {
    const result = refusedResult(call, outcome, deps.settings.onCancelled);
    return { result, session: call.session, empty: false, nextAt: null };
  }
  const { answer } = outcome;
  const now = await deps.time.now();
  if (outcome.kind === "granted") {
    if (outcome.refreshed) await hearAgain(deps, answer);
    state.memory.remember(answer.itemId, {
      fence: answer.fence,
      agent: answer.claimedBy,
      ttlMs: answer.ttlMs,
      originalClaimedAt: answer.originalClaimedAt,
      modifiedAt: null,
      drained: false,
    });
    return { result: grantedResult(answer, now, null), session: answer.session, empty: false, nextAt: null };
  }
  const replay = await replayState(deps, answer, now);
  if (replay === null) {
    return {
      result: goneResult(call.claimRef, answer.itemId),
      session: answer.session,
      empty: false,
      nextAt: null,
    };
  }
  return { result: grantedResult(answer, now, replay), session: answer.session, empty: false, nextAt: null };
}

/**
 * A tenure that began is told to the clock with its commit; one that went on is told here.
 * Else another replica would go by the ttl of before: it would call a holder safe for longer
 * than the database does. The instant is the one that the database counts from: by now, after a
 * wait for the row, it may have far less left than the clock would think.
 */
async function hearAgain(deps: EngineDeps, answer: GrantedAnswer): Promise<void> {
  await deps.coordination.claimClock.touch(
    [{ key: answer.itemId, fence: answer.fence, ttlMs: answer.ttlMs }],
    answer.claimedAt,
  );
}
