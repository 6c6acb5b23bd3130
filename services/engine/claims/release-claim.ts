/**
 * Giving a claim back. The role stays as it is, as in task-orchestrator, unless the
 * release asks to requeue. Only the holder releases: by its session, or by agent and
 * fence together. Releasing twice, or something that others hold, changes nothing.
 */
import { findLatestEnds } from "../../../db/stores/attempt-store.ts";
import { keyText, takeKeys } from "../../../db/stores/idempotency-store.ts";
import type { IdempotencyRecord } from "../../../db/stores/idempotency-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { ERRORS } from "../../contract/errors.ts";
import type { ReleaseEntry, ReleaseResult } from "../../contract/operations/claim-item.ts";
import { endTenure } from "../../core/tenure.ts";
import { judgeWriter } from "../../core/writer.ts";
import type { World } from "../../core/world.ts";
import { asFault } from "../database-fault.ts";
import type { CallRecord } from "../audit/call-record.ts";
import type { EngineDeps } from "../deps.ts";
import { replayOf } from "../idempotency.ts";
import type { Identified } from "../identity.ts";
import { resolveItem } from "../resolve-items.ts";
import { afterCommit, lockPart, saveWorld, transact, type Wider } from "../writing/transact.ts";
import type { Looker } from "../access.ts";

/** What is written beside a release: the key under which it is repeated, and the record of its call. */
export interface ReleaseMarks {
  readonly record: IdempotencyRecord | null;
  readonly audit: CallRecord | undefined;
}

export async function releaseClaim(
  deps: EngineDeps,
  entry: ReleaseEntry,
  who: Identified,
  marks: ReleaseMarks,
  caller: Looker,
): Promise<ReleaseResult> {
  try {
    const resolved = await resolveItem(deps.db, entry.itemId, caller);
    if (!resolved.ok) return refused(entry.itemId, "not_found");
    const { result, world } = await transact(deps, async (tx, wider) => {
      const released = await release(deps, tx, wider, { ...entry, itemId: resolved.id }, who, marks.record);
      await marks.audit?.noteIn(tx);
      return released;
    });
    if (world !== null) afterCommit(deps, world);
    return result;
  } catch (error) {
    const failure = asFault(error);
    // What concerns the key concerns the whole call.
    if (failure.code.startsWith("idempotency_") || failure.code === "INTERNAL_ERROR") throw error;
    return { itemId: entry.itemId, outcome: "db_error", error: failure.message, hint: failure.hint };
  }
}

interface Released {
  readonly result: ReleaseResult;
  readonly world: World | null;
}

async function release(
  deps: EngineDeps,
  tx: Handle,
  wider: Wider,
  entry: ReleaseEntry,
  who: Identified,
  record: IdempotencyRecord | null,
): Promise<Released> {
  if (record !== null && !(await takeKeys(tx, [record])).has(keyText(record))) {
    const stored = await replayOf(tx, record);
    return { result: { ...(stored.answer as ReleaseResult), replayed: true }, world: null };
  }
  const ids = [entry.itemId];
  const moving = { items: new Set(ids), enters: false };
  const world = await lockPart(deps, tx, wider, { closing: ids }, moving);
  const result = await decide(deps, tx, world, entry, who);
  const isDone = result.outcome === "success";
  await saveWorld(
    tx,
    world,
    record !== null && isDone ? [{ ...record, answer: result, targetId: entry.itemId }] : [],
  );
  return { result, world };
}

async function decide(
  deps: EngineDeps,
  tx: Handle,
  world: World,
  entry: ReleaseEntry,
  who: Identified,
): Promise<ReleaseResult> {
  const item = world.find(entry.itemId);
  if (!item) return refused(entry.itemId, "not_found");
  const [latestEnd = null] = await findLatestEnds(tx, [
    { itemId: item.id, agent: who.agent, session: who.session },
  ]);
  const verdict = judgeWriter(
    item,
    { agent: who.agent, session: who.session, fence: entry.fence ?? null },
    "holder",
    { now: world.now, seenDead: false, latestEnd, identity: deps.settings.identity },
  );
  if (verdict.kind === "claim_lost") return refused(item.id, "claim_lost");
  if (verdict.kind !== "ok" || item.claim === null) return refused(item.id, "not_claimed_by_you");
  const end = endTenure(world, item.id, {
    reason: "released",
    requeue: entry.requeue,
    detail: null,
    by: who.author,
    ...(entry.delaySeconds === undefined ? {} : { waitMs: entry.delaySeconds * 1000 }),
  });
  return { itemId: item.id, outcome: "success", requeued: end.requeued, role: world.get(item.id).role };
}

const CAUSES = {
  not_found: "no item has this id",
  claim_lost: "your claim on this item has ended already",
  not_claimed_by_you: "you do not hold this item",
} as const;

function refused(itemId: string, outcome: keyof typeof CAUSES): ReleaseResult {
  return { itemId, outcome, error: CAUSES[outcome], hint: ERRORS[outcome].hint };
}
