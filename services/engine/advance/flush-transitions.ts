/**
 * Many transitions in one transaction: keys, locks, decisions, writes. A refused one
 * changes nothing and gives its key back; the others do not notice.
 */
import { findLatestEnds } from "../../../db/stores/attempt-store.ts";
import { keyText, type SavedAnswer, takeKeys } from "../../../db/stores/idempotency-store.ts";
import { noteCalls } from "../../../db/stores/call-store.ts";
import { findBlockers, findTitles } from "../../../db/stores/item-store.ts";
import type { Handle } from "../../../db/statement.ts";
import type { Tail } from "../../../db/transaction.ts";
import type { MusterError } from "../../contract/errors.ts";
import { type AdvanceRequest, type AdvanceVerdict, decideAdvance } from "../../core/advance.ts";
import type { Trigger } from "../../core/roles.ts";
import type { EndReason } from "../../core/state.ts";
import type { World } from "../../core/world.ts";
import { rowsOfCalls } from "../audit/rows-of-calls.ts";
import type { EngineDeps } from "../deps.ts";
import type { ClaimCall, ClaimOutcome } from "../claims/claim-call.ts";
import { considerFailures } from "../breakers/consider-failures.ts";
import { decideClaims } from "../claims/flush-claims.ts";
import { lockPicked, type OpenedFlush, openFlush } from "../claims/open-flush.ts";
import { pickItems } from "../claims/pick-items.ts";
import { replayOf } from "../idempotency.ts";
import { afterCommit, CLAIMABLE, lockPart, saveWorld, transact, type Wider } from "../writing/transact.ts";
import { bringNotes, writeBroughtNotes } from "./brought-notes.ts";
import { nameChildren } from "./name-children.ts";
import { recordOverrides } from "./record-overrides.ts";
import { appliedAnswer, mentioned, type TransitionCall, type TransitionOutcome } from "./transition-call.ts";

/** A batch hardly waits for a lock: whoever is slow is retried alone. */
const BATCH_LOCK_TIMEOUT_MS = 100;

export async function flushTransitions(
  deps: EngineDeps,
  calls: readonly TransitionCall[],
): Promise<TransitionOutcome[]> {
  const { outcomes, worlds, opensStart } = await transact(deps, (tx, wider, tail) =>
    runTransitions(deps, tx, calls, wider, tail),
  );
  for (const world of worlds) afterCommit(deps, world);
  for (const world of worlds) await considerFailures(deps, world);
  if (opensStart) deps.coordination.wakeUps.publish([CLAIMABLE]);
  return outcomes;
}

/** Triggers that may lead into work, the item or what is above it. */
const ENTERING: ReadonlySet<Trigger> = new Set<Trigger>(["start", "resume", "rework", "reopen"]);

interface Flushed {
  readonly outcomes: TransitionOutcome[];
  /** What was stored, in this order. */
  readonly worlds: readonly World[];
  /** A note that came along lets an item start: a waiting claim may want it. */
  readonly opensStart: boolean;
}

async function runTransitions(
  deps: EngineDeps,
  tx: Handle,
  calls: readonly TransitionCall[],
  wider: Wider,
  tail: Tail,
): Promise<Flushed> {
  const opened = await open(deps, tx, calls, wider);
  const { taken, world } = opened;
  const fresh = calls.filter(({ record }) => record === null || taken.has(keyText(record)));
  // Whoever holds the item now has not lost it: only the others' past is looked up.
  const ends = await findLatestEnds(
    tx,
    fresh.map(({ request }) => ({
      itemId: request.itemId,
      agent: holdsNow(world, request) ? null : request.writer.agent,
      session: request.writer.session,
    })),
  );
  const decided = await nameChildren(
    tx,
    fresh.map(({ request }) => request.itemId),
    fresh.map((call, index) => decide(deps, world, call, ends[index] ?? null)),
  );
  const { outcomes, answers } = await answer(tx, fresh, decided, world);
  await recordOverrides(tx, fresh, decided);
  const opensStart = await writeBroughtNotes(
    tx,
    world,
    fresh.filter((_, index) => outcomes[index]?.kind === "applied"),
  );
  const byCall = new Map(fresh.map((call, index) => [call, outcomes[index]]));
  const all: TransitionOutcome[] = [];
  for (const call of calls) all.push(byCall.get(call) ?? (await replay(tx, call, world)));
  const applied = calls.filter((_, index) => isDone(all[index]));
  tail.send(noteCalls(tx, rowsOfCalls(applied)));
  const stored = await storeWithNext(deps, tx, { opened, answers, applied }, wider, tail);
  return {
    outcomes: all.map((outcome, index) => withNext(outcome, calls[index], stored.next)),
    worlds: stored.worlds,
    opensStart,
  };
}

const isDone = (outcome: TransitionOutcome | undefined): boolean =>
  outcome?.kind === "applied" || outcome?.kind === "replayed";

function withNext(
  outcome: TransitionOutcome,
  call: TransitionCall | undefined,
  next: ReadonlyMap<ClaimCall, ClaimOutcome>,
): TransitionOutcome {
  if (outcome.kind !== "applied" && outcome.kind !== "replayed") return outcome;
  return call?.next ? { ...outcome, next: next.get(call.next) ?? null } : outcome;
}

/** Keys first, then rows: sent together, run in this order. Rows of calls that turn out to be replays are locked for nothing. */
async function open(
  deps: EngineDeps,
  tx: Handle,
  calls: readonly TransitionCall[],
  wider: Wider,
): Promise<OpenedFlush> {
  const records = calls.flatMap(({ record }) => (record === null ? [] : [record]));
  const claims = calls.flatMap(({ next }) => (next === null || next.signal.aborted ? [] : [next]));
  const closing = calls.map((call) => call.request.itemId);
  const enters = calls.some((call) => ENTERING.has(call.request.trigger));
  const alone = calls.length === 1;
  const lockTimeoutMs = alone ? undefined : BATCH_LOCK_TIMEOUT_MS;
  if (claims.length > 0) {
    const keys = claims.flatMap(({ record }) => (record === null ? [] : [record]));
    return await openFlush(deps, tx, {
      claims,
      records: [...records, ...keys],
      closing,
      alone,
      lockTimeoutMs,
      wider,
    });
  }
  const [taken, world] = await Promise.all([
    takeKeys(tx, records, lockTimeoutMs),
    lockPart(deps, tx, wider, { closing, counted: true }, { items: new Set(closing), enters }),
  ]);
  return { ...NOTHING_CLAIMED, taken, world };
}

const NOTHING_CLAIMED = {
  held: [],
  particular: new Set<string>(),
  drained: new Set<string>(),
  breakers: new Set<string>(),
  picked: new Map(),
  heads: new Map(),
};

interface Decided {
  readonly opened: OpenedFlush;
  readonly answers: readonly SavedAnswer[];
  readonly applied: readonly TransitionCall[];
}

interface Stored {
  readonly worlds: readonly World[];
  readonly next: ReadonlyMap<ClaimCall, ClaimOutcome>;
}

/** Stores the transitions and gives those that applied what they claim next. */
async function storeWithNext(
  deps: EngineDeps,
  tx: Handle,
  { opened, answers, applied }: Decided,
  wider: Wider,
  tail: Tail,
): Promise<Stored> {
  const { world } = opened;
  const next = new Map<ClaimCall, ClaimOutcome>();
  const claims = applied.flatMap((call) =>
    call.next === null || call.next.signal.aborted ? [] : [call.next],
  );
  const isMore = claims.length > 0 && world.becameClaimable().length > 0;
  if (!isMore) {
    const claimed = await decideClaims(deps, tx, claims, opened, next);
    wider.count(world.tallies.keys());
    tail.send(saveWorld(tx, world, [...answers, ...claimed.answers]));
    return { worlds: [world], next };
  }
  // What these transitions have freed may come before what was chosen without it.
  wider.count(world.tallies.keys());
  await saveWorld(tx, world, answers);
  const isFresh = ({ record }: ClaimCall): boolean => record === null || opened.taken.has(keyText(record));
  const choosing = claims.filter((claim) => isFresh(claim) && !opened.drained.has(claim.agent));
  const picked = await pickItems(tx, choosing, opened.particular, new Set());
  const reopened = await lockPicked(deps, tx, { claims, closing: [], wider }, { ...opened, picked });
  const claimed = await decideClaims(deps, tx, claims, reopened, next);
  wider.count([...world.tallies.keys(), ...reopened.world.tallies.keys()]);
  tail.send(saveWorld(tx, reopened.world, claimed.answers));
  return { worlds: [world, reopened.world], next };
}

function holdsNow(world: World, { itemId, writer }: AdvanceRequest): boolean {
  const claim = world.find(itemId)?.claim;
  return claim?.agent === writer.agent && claim?.session === writer.session;
}

function decide(deps: EngineDeps, world: World, call: TransitionCall, latestEnd: EndReason | null): Decision {
  const item = world.find(call.request.itemId);
  if (!item) return null;
  const error = bringNotes(world, call);
  if (error !== null) return { kind: "bad_note", error };
  const verdict = decideAdvance(world, call.request, {
    now: world.now,
    seenDead: call.deadFence === item.fence,
    latestEnd,
    identity: deps.settings.identity,
  });
  // What is refused is not written, so nobody else may be judged by it.
  if (verdict.kind === "refused") world.bringNotes(item.id, null);
  return verdict;
}

async function answer(
  tx: Handle,
  calls: readonly TransitionCall[],
  verdicts: readonly Decision[],
  world: World,
): Promise<{ readonly outcomes: TransitionOutcome[]; readonly answers: SavedAnswer[] }> {
  const titles = await findTitles(
    tx,
    verdicts.flatMap((verdict) => (verdict?.kind === "applied" ? mentioned(verdict) : [])),
  );
  const blocked = calls.filter((_, index) => isDependencyBlocked(verdicts[index]));
  const blockers = await findBlockers(
    tx,
    blocked.map((call) => call.request.itemId),
  );
  const saved: SavedAnswer[] = [];
  const outcomes: TransitionOutcome[] = [];
  for (const [index, call] of calls.entries()) {
    const verdict = verdicts[index];
    if (verdict?.kind === "applied") {
      const applied = appliedAnswer(call, verdict, (id) => titles.get(id) ?? "", world);
      outcomes.push({ kind: "applied", answer: applied, next: null });
      if (call.record !== null)
        saved.push({ ...call.record, answer: applied, targetId: call.request.itemId });
      continue;
    }
    if (verdict?.kind === "bad_note") {
      outcomes.push(verdict);
      continue;
    }
    const { itemId } = call.request;
    outcomes.push(
      verdict?.kind === "refused"
        ? {
            kind: "refused",
            refusal: verdict.refusal,
            blockers: blockers.filter((row) => row.to_item === itemId),
          }
        : { kind: "not_found" },
    );
  }
  return { outcomes, answers: saved };
}

/** Null: there is no such item. */
type Decision = AdvanceVerdict | { readonly kind: "bad_note"; readonly error: MusterError } | null;

function isDependencyBlocked(verdict: Decision | undefined): boolean {
  return verdict?.kind === "refused" && verdict.refusal.code === "dependency_blocked";
}

/** An answer about an item that was deleted since would send its caller after nothing. */
async function replay(tx: Handle, call: TransitionCall, world: World): Promise<TransitionOutcome> {
  if (call.record === null) throw new Error("only a call with a key is replayed");
  const stored = await replayOf(tx, call.record);
  if (!world.find(call.request.itemId)) return { kind: "gone" };
  return { kind: "replayed", answer: { ...stored.answer, replayed: true }, next: null };
}
