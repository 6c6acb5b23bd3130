/** An item as the decisions see it: plain values, instants in milliseconds of the database's clock. */
import type { Lifecycle, Outcome, Priority, ResumableRole, Role } from "./roles.ts";

/** Who holds an item. The name alone is not identity: many processes share one. */
export interface Holder {
  readonly agent: string;
  readonly session: string;
}

export interface Claim extends Holder {
  readonly claimedAt: number;
  /** First claim of this holder; survives renewals. */
  readonly originalClaimedAt: number;
  readonly expiresAt: number;
  readonly ttlMs: number;
}

export interface ItemState {
  readonly id: string;
  readonly rootId: string;
  readonly parentId: string | null;
  /** Root first, parent last. */
  readonly ancestors: readonly string[];
  readonly role: Role;
  readonly previousRole: ResumableRole | null;
  readonly outcome: Outcome | null;
  readonly statusLabel: string | null;
  /** Unsatisfied edges into this item. */
  readonly blockers: number;
  /** Ancestors that have an unsatisfied edge. */
  readonly ancestorBlockers: number;
  readonly openChildren: number;
  /** Children that ended `done`: what a container that closes by itself has come to. */
  readonly doneChildren: number;
  /** A cascade would have closed it, had nobody held it: it closes when that claim ends. */
  readonly closeWithheld: boolean;
  readonly availableAt: number | null;
  /** Attempts that ended badly since the item entered its phase. */
  readonly attempts: number;
  readonly dead: boolean;
  readonly startGateOpen: boolean;
  readonly claim: Claim | null;
  /** Rises whenever the holder changes or is cleared; counts only together with the agent. */
  readonly fence: number;
  readonly priority: Priority;
  readonly complexity: number | null;
  readonly createdAt: number;
  readonly type: string | null;
  readonly tags: readonly string[];
  readonly traits: readonly string[];
  readonly needs: readonly string[];
  readonly assignee: string | null;
  /** Keys of the resources that it has, sorted. Whether a lease still lives, the lease says. */
  readonly leased: readonly string[];
  /** Keys that an operator took away since it entered work. */
  readonly lostLeases: readonly string[];
  /** How often a review has sent it back since it was opened. */
  readonly reviewRounds: number;
  /** Agents whose review would not be independent: it is not offered to them. */
  readonly reviewExcludes: readonly string[];
}

/** What an item's schema says about its life. */
export interface ItemPolicy {
  readonly lifecycle: Lifecycle;
  readonly hasReviewPhase: boolean;
  readonly onExpiry: "requeue" | "hold";
  readonly maxAttempts: number;
  readonly backoff: BackoffPolicy;
}

export interface BackoffPolicy {
  readonly firstMs: number;
  readonly factor: number;
  readonly maxMs: number;
}

export const DEFAULT_POLICY: ItemPolicy = {
  lifecycle: "auto",
  hasReviewPhase: false,
  onExpiry: "requeue",
  maxAttempts: 5,
  backoff: { firstMs: 5_000, factor: 4, maxMs: 3_600_000 },
};

export type EndReason = "completed" | "released" | "expired" | "revoked" | "failed";
