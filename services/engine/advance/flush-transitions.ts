/**
 * Many transitions in one transaction: keys, locks, decisions, writes. A refused one
 * changes nothing and gives its key back; the others do not notice.
 */
import { findLatestEnds } from "../../../db/stores/attempt-store.ts";
import { keyText, type SavedAnswer, takeKeys } from "../../../db/stores/idempotency-store.ts";
import { findBlockers, findTitles } from "../../../db/stores/item-store.ts";
import type { Handle } from "../../../db/statement.ts";
import type { Tail } from "../../../db/transaction.ts";
import { type AdvanceRequest, type AdvanceVerdict, decideAdvance } from "../../core/advance.ts";
import type { Trigger } from "../../core/roles.ts";
import type { EndReason } from "../../core/state.ts";
import type { World } from "../../core/world.ts";
import type { EngineDeps } from "../deps.ts";
import { replayOf } from "../idempotency.ts";
import { afterCommit, lockPart, saveWorld, transact, type Wider } from "../writing/transact.ts";
import { appliedAnswer, mentioned, type TransitionCall, type TransitionOutcome } from "./transition-call.ts";

/** A batch hardly waits for a lock: whoever is slow is retried alone. */
const BATCH_LOCK_TIMEOUT_MS = 100;

export async function flushTransitions(
  deps: EngineDeps,
  calls: readonly TransitionCall[],
): Promise<TransitionOutcome[]> {
  const { outcomes, world } = await transact(deps, (tx, wider, tail) =>
    runTransitions(deps, tx, calls, wider, tail),
  );
  afterCommit(deps, world);
  return outcomes;
}

/** Triggers that may lead into work, the item or what is above it. */
const ENTERING: ReadonlySet<Trigger> = new Set<Trigger>(["start", "resume", "rework", "reopen"]);

interface Flushed {
  readonly outcomes: TransitionOutcome[];
  readonly world: World;
}

async function runTransitions(
  deps: EngineDeps,
  tx: Handle,
  calls: readonly TransitionCall[],
  wider: Wider,
  tail: Tail,
): Promise<Flushed> {
  const records = calls.flatMap((call) => (call.record === null ? [] : [call.record]));
  const ids = calls.map((call) => call.request.itemId);
  const enters = calls.some((call) => ENTERING.has(call.request.trigger));
  // Keys first, then rows: sent together, run in this order. Rows of calls that turn out to be
  // replays are locked for nothing.
  const [taken, world] = await Promise.all([
    takeKeys(tx, records, calls.length > 1 ? BATCH_LOCK_TIMEOUT_MS : undefined),
    lockPart(deps, tx, wider, { closing: ids, counted: true }, { items: new Set(ids), enters }),
  ]);
  const isReplay = (call: TransitionCall): boolean =>
    call.record !== null && !taken.has(keyText(call.record));
  const fresh = calls.filter((call) => !isReplay(call));
  // Whoever holds the item now has not lost it: only the others' past is looked up.
  const ends = await findLatestEnds(
    tx,
    fresh.map(({ request }) => ({
      itemId: request.itemId,
      agent: holdsNow(world, request) ? null : request.writer.agent,
      session: request.writer.session,
    })),
  );
  const verdicts = fresh.map((call, index) => decide(deps, world, call, ends[index] ?? null));
  const { outcomes, answers } = await answer(tx, fresh, verdicts);
  wider.count(world.tallies.keys());
  tail.send(saveWorld(tx, world, answers));
  const byCall = new Map(fresh.map((call, index) => [call, outcomes[index]]));
  const all: TransitionOutcome[] = [];
  for (const call of calls) all.push(byCall.get(call) ?? (await replay(tx, call, world)));
  return { outcomes: all, world };
}

function holdsNow(world: World, { itemId, writer }: AdvanceRequest): boolean {
  const claim = world.find(itemId)?.claim;
  return claim?.agent === writer.agent && claim?.session === writer.session;
}

function decide(
  deps: EngineDeps,
  world: World,
  call: TransitionCall,
  latestEnd: EndReason | null,
): AdvanceVerdict | null {
  const item = world.find(call.request.itemId);
  if (!item) return null;
  return decideAdvance(world, call.request, {
    now: world.now,
    seenDead: call.deadFence === item.fence,
    latestEnd,
    identity: deps.settings.identity,
  });
}

async function answer(
  tx: Handle,
  calls: readonly TransitionCall[],
  verdicts: readonly (AdvanceVerdict | null)[],
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
      const applied = appliedAnswer(call.request, verdict, (id) => titles.get(id) ?? "");
      outcomes.push({ kind: "applied", answer: applied });
      if (call.record !== null)
        saved.push({ ...call.record, answer: applied, targetId: call.request.itemId });
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

function isDependencyBlocked(verdict: AdvanceVerdict | null | undefined): boolean {
  return verdict?.kind === "refused" && verdict.refusal.code === "dependency_blocked";
}

/** An answer about an item that was deleted since would send its caller after nothing. */
async function replay(tx: Handle, call: TransitionCall, world: World): Promise<TransitionOutcome> {
  if (call.record === null) throw new Error("only a call with a key is replayed");
  const stored = await replayOf(tx, call.record);
  if (!world.find(call.request.itemId)) return { kind: "gone" };
  return { kind: "replayed", answer: { ...stored.answer, replayed: true } };
}
