/**
 * What has to be true of a proof once there are keys to check it with, and what it means when
 * something is not. Reasons are constant phrases: what `jose` says may quote the token.
 */
import { errors, type JWTPayload, jwtVerify, type JWTVerifyGetKey, type JWTVerifyOptions } from "jose";
import type { Proof, Rejected, Verified } from "../engine/actors/verifier.ts";

/** Between clocks that are meant to be right. */
export const CLOCK_TOLERANCE_SECONDS = 60;
const IDENTITY_LENGTH_MAX = 500;
/** Keys that a proof without a `kid` may be tried with. */
const CANDIDATES_MAX = 16;

export interface TokenRules {
  readonly algorithms: readonly string[];
  readonly issuer: string | null;
  readonly audience: string | readonly string[] | null;
  readonly requireSubMatch: boolean;
  readonly maxLifetimeSeconds: number;
}

type Checked = Omit<Verified, "staleForMs"> | Rejected;

/**
 * Checks signature and claims.
 * @throws JWKSNoMatchingKey if the keys hold none for it: there may be newer ones.
 */
export async function checkToken(proof: Proof, find: JWTVerifyGetKey, rules: TokenRules): Promise<Checked> {
  const options: JWTVerifyOptions = {
    algorithms: [...rules.algorithms],
    currentDate: new Date(proof.nowMs),
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    requiredClaims: ["exp", "sub"],
    ...(rules.issuer === null ? {} : { issuer: rules.issuer }),
    ...(rules.audience === null ? {} : { audience: asAudience(rules.audience) }),
  };
  try {
    return judgeClaims(await verifySignature(proof.text, find, options), proof, rules);
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) throw error;
    return toRejection(error);
  }
}

export function asAudience(audience: string | readonly string[]): string | string[] {
  return typeof audience === "string" ? audience : [...audience];
}

export async function verifySignature(
  text: string,
  find: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(text, find, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    let tried = 0;
    for await (const key of error) {
      if ((tried += 1) > CANDIDATES_MAX) break;
      try {
        return (await jwtVerify(text, key, options)).payload;
      } catch (other) {
        if (!(other instanceof errors.JWSSignatureVerificationFailed)) throw other;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

/** What `jose` does not ask. */
function judgeClaims(payload: JWTPayload, { statedId, nowMs }: Proof, rules: TokenRules): Checked {
  const { sub, iss, jti, iat, exp } = payload;
  const nowSeconds = nowMs / 1000;
  if (typeof sub !== "string" || sub.trim() === "" || sub.length > IDENTITY_LENGTH_MAX) {
    return rejected("claims", "its sub names nobody");
  }
  if (rules.requireSubMatch && sub !== statedId) return rejected("claims", "its sub is not the actor.id");
  if (exp === undefined) return rejected("claims", "it never expires");
  if (iat !== undefined && iat > nowSeconds + CLOCK_TOLERANCE_SECONDS) {
    return rejected("claims", "its iat lies in the future");
  }
  if (exp - (iat ?? nowSeconds) > rules.maxLifetimeSeconds) {
    return rejected("claims", "it lives longer than this server allows");
  }
  return {
    status: "verified",
    identity: sub,
    issuer: iss ?? null,
    tokenId: jti ?? null,
    issuedAtMs: iat === undefined ? null : iat * 1000,
    expiresAtMs: exp * 1000,
    claims: registeredClaims(payload),
  };
}

function registeredClaims({ iss, sub, aud, exp, nbf, iat, jti }: JWTPayload): Record<string, unknown> {
  const claims = { iss, sub, aud, exp, nbf, iat, jti };
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
}

export function rejected(failureKind: Rejected["failureKind"], reason: string): Rejected {
  return { status: "rejected", failureKind, reason };
}

/** What went wrong, in our words. What is not known to be the proof's fault is called internal. */
export function toRejection(error: unknown): Rejected {
  if (error instanceof errors.JWTExpired) return rejected("claims", "it has expired");
  if (error instanceof errors.JWTClaimValidationFailed) return rejected("claims", claimReason(error.claim));
  if (error instanceof errors.JOSEAlgNotAllowed) return rejected("policy", "its algorithm is not allowed");
  if (error instanceof errors.JOSENotSupported) return rejected("policy", "its algorithm is not known");
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return rejected("crypto", "its signature does not match");
  }
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) {
    return rejected("crypto", "it is not a signed JWT");
  }
  if (error instanceof errors.JOSEError || error instanceof TypeError) {
    return rejected("crypto", "its key cannot be used");
  }
  return rejected("internal", "it could not be checked");
}

function claimReason(claim: string): string {
  switch (claim) {
    case "iss":
      return "its iss is not the expected one";
    case "aud":
      return "its aud is not this server";
    case "nbf":
      return "it is not valid yet";
    case "exp":
      return "its exp is missing or no time";
    case "sub":
      return "its sub is missing";
    default:
      return "a claim is not acceptable";
  }
}
