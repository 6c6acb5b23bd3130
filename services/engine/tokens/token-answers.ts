/** What answers say of a token, and what it opens. */
import type { TokenRow } from "../../../db/stores/token-store.ts";
import { CAPABILITIES, type Capability } from "../../contract/operation.ts";
import type { ListedToken } from "../../contract/tokens.ts";
import type { Access } from "../access.ts";
import { tokenPrefix } from "./token-text.ts";

export function shownToken(row: TokenRow): ListedToken {
  return {
    tokenId: row.id,
    prefix: tokenPrefix(row.id),
    name: row.name,
    capabilities: capabilitiesOf(row),
    rootIds: row.root_ids,
    pinnedRootId: row.pinned_root,
    agentId: row.agent,
    state: stateOf(row),
    createdAt: row.created_at.toISOString(),
    createdBy: row.created_by,
    expiresAt: row.expires_at.toISOString(),
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
    rotatedAt: row.rotated_at?.toISOString() ?? null,
    revokedAt: row.revoked_at?.toISOString() ?? null,
    revokeReason: row.revoke_reason,
  };
}

function stateOf({ revoked_at, expires_at, now }: TokenRow): ListedToken["state"] {
  if (revoked_at !== null) return "revoked";
  return expires_at <= now ? "expired" : "active";
}

/** What it may do and see. A pinned root leaves nothing else, whatever the scope says. */
export function accessOf(row: Pick<TokenRow, "capabilities" | "root_ids" | "pinned_root" | "agent">): Access {
  return {
    capabilities: new Set(capabilitiesOf(row)),
    scope: row.pinned_root === null ? row.root_ids : [row.pinned_root],
    agent: row.agent,
  };
}

/** In the order of the contract; what a newer version wrote and this one does not know grants nothing here. */
function capabilitiesOf({ capabilities }: Pick<TokenRow, "capabilities">): Capability[] {
  return CAPABILITIES.filter((one) => capabilities.includes(one));
}
