/** The port behind which access tokens are checked: signature, issuer, audience, time. */
import type { Rejected, Unavailable } from "../actors/verifier.ts";

export interface VerifiedAccessToken {
  readonly status: "verified";
  /** Whom it was issued to: its `sub`, or the client where it speaks for itself. */
  readonly subject: string;
  readonly expiresAtMs: number;
  readonly claims: Readonly<Record<string, unknown>>;
}

export type AccessTokenFinding = VerifiedAccessToken | Rejected | Unavailable;

export interface AccessTokenVerifier {
  /** Never rejects for what a caller sent. */
  verify(text: string, nowMs: number): Promise<AccessTokenFinding>;
}
