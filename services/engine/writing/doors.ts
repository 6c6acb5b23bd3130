/**
 * Asks every item of a write whether this caller may write to it, under the locks that
 * the world holds. The claim clock is asked before the transaction, never inside.
 */
import { findLatestEnds } from "../../../db/stores/attempt-store.ts";
import { findExpiredClaims, findTenuredAbove } from "../../../db/stores/item-write-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault, type MusterError } from "../../contract/errors.ts";
import { judgeWriter, type WriterVerdict } from "../../core/writer.ts";
import type { World } from "../../core/world.ts";
import type { EngineDeps } from "../deps.ts";
import { type WriteCall, writerOf } from "./write-call.ts";

/** Fences whose holder the claim clock saw die, by item. */
export type DeadFences = ReadonlyMap<string, number>;

const NOBODY_SEEN_DEAD: DeadFences = new Map();

/** Looks up those of the items whose claim's expiry has passed. Call it outside of transactions. */
export async function lookForDead(deps: EngineDeps, ids: readonly string[]): Promise<DeadFences> {
  const expired = await findExpiredClaims(deps.db, ids);
  if (expired.length === 0) return NOBODY_SEEN_DEAD;
  const entries = expired.map(({ itemId, fence, ttlMs }) => ({ key: itemId, fence, ttlMs }));
  const seen = await deps.coordination.claimClock.look(entries, await deps.time.now());
  return new Map(
    expired.flatMap(({ itemId, fence }, index) =>
      seen[index]?.state === "dead" ? [[itemId, fence] as const] : [],
    ),
  );
}

/**
 * The items, and what is above them that this session has held: losing one of those is
 * losing the items, so it is locked with them. Roots that others hold stay out of it.
 */
export async function withTenuresAbove(
  tx: Handle,
  call: WriteCall,
  ids: readonly string[],
): Promise<string[]> {
  const { agent, session } = call;
  if (agent === null || session === null || ids.length === 0) return [...ids];
  return [...new Set([...ids, ...(await findTenuredAbove(tx, ids, agent, session))])];
}

export interface Asked {
  readonly itemId: string;
  readonly fence: number | null;
}

/** Verdicts by position, for items that are in the world. */
export async function askDoors(
  deps: EngineDeps,
  tx: Handle,
  world: World,
  call: WriteCall,
  door: "holder" | "open",
  asked: readonly Asked[],
  dead: DeadFences = NOBODY_SEEN_DEAD,
): Promise<WriterVerdict[]> {
  const { agent, session } = call;
  const ends = await findLatestEnds(
    tx,
    asked.map(({ itemId }) => ({ itemId, agent, session })),
  );
  return asked.map(({ itemId, fence }, index) => {
    const item = world.get(itemId);
    return judgeWriter(item, writerOf(call, fence), door, {
      now: world.now,
      seenDead: dead.get(itemId) === item.fence,
      latestEnd: ends[index] ?? null,
      identity: deps.settings.identity,
    });
  });
}

export function claimLost(itemId: string): MusterError {
  return fault("claim_lost", `your claim on ${itemId}, or on an item above it, has ended`);
}
