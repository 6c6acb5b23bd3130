/**
 * Holds on named resources. The item is the subject, never the agent.
 *
 * A held item's lease lives exactly as long as the item's claim, so a heartbeat renews both.
 * An item that is in work and that nobody holds keeps its lease for the lease's own ttl.
 */
import type { Claim } from "../state.ts";

/** Advisory resources are recorded and never stand in anybody's way: they are no leases. */
export type LeaseMode = "exclusive" | "shared";

/** What an item has to have before it may be in work. */
export interface Requirement {
  readonly key: string;
  readonly mode: LeaseMode;
  /** How many items may share it. Counts for `shared` only. */
  readonly capacity: number;
  readonly ttlMs: number;
}

/** What a lease lives for whose declaration does not say. */
export const LEASE_TTL_MS_DEFAULT = 3_600_000;

/** An item's claim, as far as the life of its leases and of its tickets hangs on it. */
export interface LeaseClaim extends Pick<Claim, "expiresAt" | "ttlMs"> {
  readonly fence: number;
}

export interface Lease {
  readonly itemId: string;
  readonly key: string;
  readonly mode: LeaseMode;
  readonly ttlMs: number;
  /** The item's fence when it was taken. */
  readonly fence: number;
  /** For the audit only. */
  readonly acquiredBy: string | null;
  readonly acquiredAt: number;
  /** Survives renewals. */
  readonly originalAcquiredAt: number;
  /** When it ends if nobody holds the item. */
  readonly expiresAt: number;
}

/** A place in the line for a key. It holds nothing, and is void when its item's claim ends. */
export interface Ticket {
  readonly itemId: string;
  readonly key: string;
  /** Older tickets have lower numbers. */
  readonly number: number;
}

/** A lease or a ticket with its item's claim, as it stood when the key was locked. */
export type WithClaim<T> = T & { readonly claim: LeaseClaim | null };

export type LeaseEndReason = "released" | "expired" | "force_released";

export interface LeaseEnd {
  readonly reason: LeaseEndReason;
  readonly at: number;
  readonly by: string | null;
  readonly detail: string | null;
}

/** Nobody holds the item and the lease's own time is up: whoever wants the key may have it. */
export function isOver(lease: Lease, claim: LeaseClaim | null, now: number): boolean {
  return claim === null && lease.expiresAt <= now;
}
