/** `list_attempts`: who held an item from when to when, and how each tenure ended. */
import { type AttemptRow, listAttemptsOf } from "../../../db/stores/attempt-read-store.ts";
import { findExisting } from "../../../db/stores/item-write-store.ts";
import { fault } from "../../contract/errors.ts";
import type {
  ListAttemptsInput,
  ListAttemptsOutput,
  ListedAttempt,
} from "../../contract/operations/list-attempts.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { requireItem } from "../resolve-items.ts";
import { shortSession } from "./short-session.ts";
import { inSnapshot } from "./snapshot.ts";

export async function listAttempts(
  deps: EngineDeps,
  { itemId: ref, limit, offset }: ListAttemptsInput,
  caller: Caller,
): Promise<ListAttemptsOutput> {
  return await inSnapshot(deps, async (handle) => {
    const itemId = await requireItem(handle, ref, caller);
    if (!(await findExisting(handle, [itemId])).has(itemId))
      throw fault("RESOURCE_NOT_FOUND", `there is no item ${itemId}`);
    const rows = await listAttemptsOf(handle, itemId, limit, offset);
    const total = rows[0]?.total ?? offset;
    return {
      itemId,
      attempts: rows.map(listedAttempt),
      total,
      hasMore: offset + rows.length < total,
      limit,
      offset,
    };
  });
}

function listedAttempt(row: AttemptRow): ListedAttempt {
  return {
    fence: row.fence,
    agent: row.agent,
    session: shortSession(row.session),
    ...(row.parent_agent === null ? {} : { parent: row.parent_agent }),
    claimedAt: row.claimed_at.toISOString(),
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at.toISOString() }),
    ...(row.end_reason === null ? {} : { endReason: row.end_reason }),
    ...(row.detail === null ? {} : { detail: row.detail }),
    ...(row.usage === null ? {} : { usage: row.usage }),
  };
}
