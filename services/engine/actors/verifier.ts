/**
 * The port behind which proofs are checked. An adapter says what it found; what follows from
 * that is decided in `policy.ts`, the same for every adapter.
 */
import type { FailureKind } from "./verification.ts";

export interface Proof {
  /** As the caller sent it; a credential, so neither logged nor stored nor put into a reason. */
  readonly text: string;
  /** The name the caller gave itself. */
  readonly statedId: string;
  /** Milliseconds of the database's clock, so that replicas agree about what has expired. */
  readonly nowMs: number;
}

export type Finding = Verified | Rejected | Unavailable;

export interface Verified {
  readonly status: "verified";
  /** Whom the proof names. */
  readonly identity: string;
  /** Who vouches; `tokenId` is unique among what it issued. */
  readonly issuer: string | null;
  readonly tokenId: string | null;
  readonly issuedAtMs: number | null;
  readonly expiresAtMs: number;
  /** The registered claims. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** How old the keys were, when they were past their time because newer ones could not be had; else null. */
  readonly staleForMs: number | null;
}

export interface Rejected {
  readonly status: "rejected";
  readonly failureKind: Exclude<FailureKind, "network">;
  /** A constant phrase and names of claims: safe to show to any caller. */
  readonly reason: string;
}

/** Nothing was learnt about the proof. */
export interface Unavailable {
  readonly status: "unavailable";
  readonly reason: string;
}

export interface ProofVerifier {
  /** What records of it say, `jwks` for example. */
  readonly name: string;
  /** Never rejects for what a caller sent, or because a source of keys is away. */
  verify(proof: Proof): Promise<Finding>;
}
