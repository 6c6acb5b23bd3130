/** The closed sets of words on the wire. Those of the domain are core's own. */
import type { Priority } from "../core/roles.ts";

export { ROLES, TRIGGERS } from "../core/roles.ts";

/** Roles in which an item can be offered to an agent. */
export const CLAIMABLE_ROLES = ["queue", "work", "review", "blocked"] as const;
export const PRIORITIES = ["high", "medium", "low"] as const satisfies readonly Priority[];
export const DEPENDENCY_TYPES = ["BLOCKS", "IS_BLOCKED_BY", "RELATES_TO"] as const;
export const DIRECTIONS = ["incoming", "outgoing", "all"] as const;
export const THRESHOLDS = ["queue", "work", "review", "terminal"] as const;
export const ON_CANCELLED = ["hold", "release"] as const;
export const ACTOR_KINDS = ["orchestrator", "subagent", "user", "external"] as const;
export const ORDERINGS = ["priority", "oldest", "newest", "fair"] as const;
export const READINESS = ["ready", "blocked", "claimed", "waiting", "dead", "all"] as const;
export const CLAIM_STATUSES = ["claimed", "unclaimed", "expired"] as const;
export const SORT_FIELDS = ["title", "priority", "complexity", "createdAt", "modifiedAt"] as const;
export const MATCH_MODES = ["auto", "substring", "text"] as const;
export const SEARCH_KINDS = ["item", "note"] as const;
export const FAILURE_CLASSES = ["item", "environment"] as const;

export type Ordering = (typeof ORDERINGS)[number];
export type DependencyType = (typeof DEPENDENCY_TYPES)[number];
export type Threshold = (typeof THRESHOLDS)[number];
export type OnCancelled = (typeof ON_CANCELLED)[number];
export type ActorKind = (typeof ACTOR_KINDS)[number];
export type Readiness = (typeof READINESS)[number];
export type ClaimStatus = (typeof CLAIM_STATUSES)[number];
export type SortField = (typeof SORT_FIELDS)[number];
export type MatchMode = (typeof MATCH_MODES)[number];
export type SearchKind = (typeof SEARCH_KINDS)[number];
export type FailureClass = (typeof FAILURE_CLASSES)[number];
