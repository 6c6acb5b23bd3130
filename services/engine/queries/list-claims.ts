/** `list_claims`: who holds what, since when, until when. A lapsed claim is listed until somebody ends it. */
import { type ClaimRow, listHeld } from "../../../db/stores/claim-read-store.ts";
import type {
  ListClaimsInput,
  ListClaimsOutput,
  ListedClaim,
} from "../../contract/operations/list-claims.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { requireItem } from "../resolve-items.ts";
import { scopeFilter } from "../scope/scope-filter.ts";
import { shortSession } from "./short-session.ts";
import { inSnapshot } from "./snapshot.ts";

export async function listClaims(
  deps: EngineDeps,
  input: ListClaimsInput,
  caller: Caller,
): Promise<ListClaimsOutput> {
  const { agent, lapsed, limit, offset } = input;
  return await inSnapshot(deps, async (handle) => {
    const ancestorId =
      input.ancestorId === undefined ? undefined : await requireItem(handle, input.ancestorId, caller);
    const { rows, total } = await listHeld(handle, {
      agent,
      ancestorId,
      lapsed,
      limit,
      offset,
      ...scopeFilter(caller),
    });
    return { claims: rows.map(listedClaim), total, hasMore: offset + rows.length < total, limit, offset };
  });
}

function listedClaim(row: ClaimRow): ListedClaim {
  const msLeft = row.expires_at.getTime() - row.now.getTime();
  return {
    itemId: row.item_id,
    rootId: row.root_id,
    title: row.title,
    role: row.role,
    agent: row.agent,
    session: shortSession(row.session),
    fence: row.fence,
    attempt: row.attempts + 1,
    claimedAt: row.claimed_at.toISOString(),
    ...(row.original_claimed_at === null ? {} : { originalClaimedAt: row.original_claimed_at.toISOString() }),
    claimExpiresAt: row.expires_at.toISOString(),
    ttlSeconds: Math.ceil(row.ttl_ms / 1000),
    msLeft: Math.max(0, msLeft),
    lapsed: msLeft <= 0,
  };
}
