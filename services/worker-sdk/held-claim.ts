import type { ClaimGranted, ClaimResult } from "./shapes.ts";
import { trustedUntil } from "./trust-window.ts";

/** A claim that was granted, and until when it may be trusted without another word. */
export interface HeldClaim {
  readonly claim: ClaimGranted;
  readonly trustedUntilMs: number;
}

/** Returns null for anything that is not held now, such as the replay of a claim that has ended since. */
export function heldFrom(claim: ClaimResult | undefined, firstTryAtMs: number): HeldClaim | null {
  if (claim === undefined || !isGranted(claim) || claim.fenceCurrent === false) return null;
  return { claim, trustedUntilMs: trustedUntil(firstTryAtMs, claim.ttlSeconds * 1000) };
}

export function isGranted(claim: ClaimResult): claim is ClaimGranted {
  return claim.outcome === "success";
}
