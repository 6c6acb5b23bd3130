/**
 * What became of a proof, as it is judged, stored and shown. A proof is a credential: it is
 * never stored, logged or shown. What stays of one is its SHA-256, so that two records can be
 * told to rest on the same proof, and of a verified one the registered claims.
 */

export type VerificationStatus = "absent" | "unchecked" | "verified" | "rejected" | "unavailable";

/** Why a proof was not verified. Only `network` says nothing about the proof itself. */
export type FailureKind = "crypto" | "claims" | "policy" | "network" | "internal";

export interface ProofRecord {
  readonly sha256: string;
  /** The registered claims; those of an application may say anything at any length. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

export interface Verification {
  readonly status: VerificationStatus;
  /** Which verifier says so; `noop` where there is none. */
  readonly verifier: string;
  readonly reason?: string;
  /** Text only, as in task-orchestrator. */
  readonly metadata?: {
    readonly failureKind?: FailureKind;
    readonly verifiedFromCache?: "true";
    readonly cacheAgeSeconds?: string;
  };
  readonly proof?: ProofRecord;
}

/** What answers show of a stored verification: nothing about the proof. */
export function shownVerification(
  stored: Readonly<Record<string, unknown>> | null,
): Readonly<Record<string, unknown>> | null {
  if (stored === null) return null;
  const { proof: _proof, ...shown } = stored;
  return shown;
}

/** What answers show of a stored actor: who it said it was. Null if it said nothing. */
export function shownActor(
  stored: Readonly<Record<string, unknown>> | null,
): Readonly<Record<string, unknown>> | null {
  if (stored === null || typeof stored["id"] !== "string") return null;
  const { id, kind, parent } = stored;
  return { id, kind, ...(parent === undefined ? {} : { parent }) };
}
