/** Rows of `item_state` as the decisions see them. */
import type { Selectable } from "kysely";
import type { ItemState } from "../../services/core/state.ts";
import type { ItemStateTable } from "../schema.ts";

/** The columns that {@link toItemState} reads; copies that only the selector filters by are left out. */
export const STATE_COLUMNS = `s.item_id, s.root_id, s.parent_id, s.ancestors, s.role, s.previous_role, s.outcome,
  s.status_label, s.blockers, s.ancestor_blockers, s.open_children, s.done_children, s.close_withheld,
  s.available_at, s.attempts, s.dead, s.start_gate_open, s.agent, s.session, s.fence, s.claimed_at,
  s.original_claimed_at, s.expires_at, s.ttl_ms, s.priority, s.complexity, s.created_at, s.type, s.tags, s.traits,
  s.needs, s.assignee, s.leased, s.lost_leases, s.review_rounds, s.review_excludes`;

export type StateRow = Omit<
  Selectable<ItemStateTable>,
  "rank" | "modified_at" | "role_changed_at" | "resources"
>;

export function toItemState(row: StateRow): ItemState {
  return {
    id: row.item_id,
    rootId: row.root_id,
    parentId: row.parent_id,
    ancestors: row.ancestors,
    role: row.role,
    previousRole: row.previous_role,
    outcome: row.outcome,
    statusLabel: row.status_label,
    blockers: row.blockers,
    ancestorBlockers: row.ancestor_blockers,
    openChildren: row.open_children,
    doneChildren: row.done_children,
    closeWithheld: row.close_withheld,
    availableAt: row.available_at?.getTime() ?? null,
    attempts: row.attempts,
    dead: row.dead,
    startGateOpen: row.start_gate_open,
    claim: toClaim(row),
    fence: row.fence,
    priority: row.priority,
    complexity: row.complexity,
    createdAt: row.created_at.getTime(),
    type: row.type,
    tags: row.tags,
    traits: row.traits,
    needs: row.needs,
    assignee: row.assignee,
    leased: row.leased ?? [],
    lostLeases: row.lost_leases ?? [],
    reviewRounds: row.review_rounds,
    reviewExcludes: row.review_excludes ?? [],
  };
}

function toClaim(row: StateRow): ItemState["claim"] {
  if (row.agent === null || row.session === null || row.expires_at === null) return null;
  const claimedAt = row.claimed_at ?? row.expires_at;
  return {
    agent: row.agent,
    session: row.session,
    claimedAt: claimedAt.getTime(),
    originalClaimedAt: (row.original_claimed_at ?? claimedAt).getTime(),
    expiresAt: row.expires_at.getTime(),
    ttlMs: row.ttl_ms ?? 0,
  };
}
