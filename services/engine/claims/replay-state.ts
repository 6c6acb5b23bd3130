/** What has become of a tenure since its claim was answered for the first time. */
import { findTenure } from "../../../db/stores/tenure-store.ts";
import type { EngineDeps } from "../deps.ts";
import type { ReplayState } from "./claim-answers.ts";
import type { GrantedAnswer } from "./claim-call.ts";

/** Null once the item is gone. */
export async function replayState(
  deps: EngineDeps,
  answer: GrantedAnswer,
  now: number,
): Promise<ReplayState | null> {
  const tenure = await findTenure(deps.db, answer.itemId);
  if (tenure === null) return null;
  const fenceCurrent = tenure.fence === answer.fence && tenure.agent === answer.claimedBy;
  if (!fenceCurrent) return { fenceCurrent, expiresAt: answer.expiresAt };
  const key = { key: answer.itemId, fence: answer.fence, ttlMs: answer.ttlMs };
  const [seen] = await deps.coordination.claimClock.look([key], now);
  // The clock may have heard the holder since the database was last written.
  const heard = seen?.state === "alive" ? now + seen.msLeft : 0;
  return { fenceCurrent, expiresAt: Math.max(tenure.expiresAt ?? 0, heard) };
}
