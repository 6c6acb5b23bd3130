/**
 * May this caller have this item? Asked of one row, under its lock, by claims by id, by
 * selector claims (where the answer is a formality) and by previews.
 */
import type { Claim, Holder, ItemState } from "./state.ts";

/** A tenure is over after a day, however lively the heartbeats: nobody holds an item for ever. */
export const TENURE_MS = 24 * 60 * 60 * 1000;

type Lifetime = Pick<Claim, "expiresAt" | "ttlMs">;

/**
 * Has this claim lapsed? Its expiry must have passed in the database, and either the
 * clock saw the holder die, or so much time went by that no clock could say otherwise.
 * A clock that was lost, or lies, delays a takeover by half a ttl and does nothing worse.
 *
 * @param seenDead the clock answered `dead` for this very fence
 */
export function isLapsed(claim: Lifetime, now: number, seenDead: boolean): boolean {
  return claim.expiresAt <= now && (seenDead || claim.expiresAt + claim.ttlMs / 2 <= now);
}

/**
 * How long the claim will stand in the way, if nobody is heard: until its expiry, and past
 * that until no clock can say otherwise. Never longer than a ttl, though a transaction that
 * waited for the row reads a time from before the claim.
 */
export function msUntilLapsed(claim: Lifetime, now: number): number {
  const until = claim.expiresAt > now ? claim.expiresAt : claim.expiresAt + claim.ttlMs / 2;
  return Math.max(1, Math.min(claim.ttlMs, Math.ceil(until - now)));
}

export interface Claimant {
  readonly agent: string;
  readonly session: string;
  /** Names a tenure of this agent that another session began. */
  readonly fence: number | null;
}

export type ClaimVerdict =
  | { readonly kind: "grant"; readonly displaces: boolean }
  /** The same holder again: the tenure goes on. */
  | { readonly kind: "refresh" }
  /** The same agent in a new session, which proved itself by the fence. */
  | { readonly kind: "take_over" }
  | { readonly kind: "held"; readonly msLeft: number; readonly sameAgent: boolean; readonly expired: boolean }
  | { readonly kind: "terminal" }
  | { readonly kind: "dead" }
  | { readonly kind: "tenure_over" };

/** How callers are told apart: by session (the default), or by name alone as task-orchestrator does. */
export type Identity = "session" | "actor";

export function judgeClaim(
  item: ItemState,
  claimant: Claimant,
  now: number,
  seenDead: boolean,
  identity: Identity = "session",
): ClaimVerdict {
  if (item.role === "terminal") return { kind: "terminal" };
  if (item.dead) return { kind: "dead" };
  const { claim } = item;
  if (claim === null) return { kind: "grant", displaces: false };
  const lapsed = isLapsed(claim, now, seenDead);
  // A change of session goes on with the tenure: it must not be a way around its end.
  const isOver = now - claim.originalClaimedAt >= TENURE_MS;
  if (isHolder(claim, claimant, identity)) {
    // A stable name must not satisfy an expired tenure: its old process may still be writing.
    if (lapsed) return { kind: "grant", displaces: true };
    return isOver ? { kind: "tenure_over" } : { kind: "refresh" };
  }
  const sameAgent = claim.agent === claimant.agent;
  if (sameAgent && claimant.fence === item.fence && !(lapsed && isOver)) {
    return isOver ? { kind: "tenure_over" } : { kind: "take_over" };
  }
  if (lapsed) return { kind: "grant", displaces: true };
  return { kind: "held", msLeft: msUntilLapsed(claim, now), sameAgent, expired: claim.expiresAt <= now };
}

export function isHolder(claim: Holder, caller: Holder, identity: Identity = "session"): boolean {
  return claim.agent === caller.agent && (identity === "actor" || claim.session === caller.session);
}
