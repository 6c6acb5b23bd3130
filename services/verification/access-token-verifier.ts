/**
 * Checks access tokens of an OAuth authorization server. The keys come from the same sources, and
 * are kept by the same rules, as those that proofs of actors are checked with.
 */
import { errors, type JWTPayload, type JWTVerifyGetKey } from "jose";
import type { Rejected } from "../engine/actors/verifier.ts";
import type {
  AccessTokenFinding,
  AccessTokenVerifier,
  VerifiedAccessToken,
} from "../engine/tokens/access-token-verifier.ts";
import {
  asAudience,
  CLOCK_TOLERANCE_SECONDS,
  rejected,
  toRejection,
  verifySignature,
} from "./check-token.ts";
import type { KeyCache } from "./key-cache.ts";
import { refuseHeader, withNewestKeys } from "./key-set-verifier.ts";
import type { KeySet } from "./key-sources.ts";

const SUBJECT_LENGTH_MAX = 500;

export interface AccessTokenRules {
  readonly algorithms: readonly string[];
  /** Null: the one that the source of the keys names. */
  readonly issuer: string | null;
  /** Names of this server; a token that was made for another one is refused. */
  readonly audience: () => readonly string[];
}

export function createAccessTokenVerifier(
  cache: KeyCache<KeySet>,
  rules: AccessTokenRules,
): AccessTokenVerifier {
  return {
    async verify(text, nowMs): Promise<AccessTokenFinding> {
      const refusal = refuseHeader(text, rules.algorithms);
      if (refusal !== null) return refusal;
      return await withNewestKeys<KeySet, VerifiedAccessToken | Rejected>(cache, async ({ keys }) =>
        check(text, nowMs, keys.find, { ...rules, issuer: rules.issuer ?? keys.issuer }),
      );
    },
  };
}

async function check(
  text: string,
  nowMs: number,
  find: JWTVerifyGetKey,
  { algorithms, issuer, audience }: AccessTokenRules,
): Promise<VerifiedAccessToken | Rejected> {
  try {
    const payload = await verifySignature(text, find, {
      algorithms: [...algorithms],
      currentDate: new Date(nowMs),
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      requiredClaims: ["exp", "aud"],
      audience: asAudience(audience()),
      ...(issuer === null ? {} : { issuer }),
    });
    return judge(payload);
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) throw error;
    return toRejection(error);
  }
}

/** A client that speaks for itself (client credentials) may be named by `client_id` or `azp` only. */
function judge(payload: JWTPayload): VerifiedAccessToken | Rejected {
  const subject = [payload.sub, payload["client_id"], payload["azp"]].find((one) => typeof one === "string");
  if (typeof subject !== "string" || subject.trim() === "" || subject.length > SUBJECT_LENGTH_MAX)
    return rejected("claims", "it names nobody");
  const { exp } = payload;
  if (exp === undefined) return rejected("claims", "it never expires");
  return { status: "verified", subject, expiresAtMs: exp * 1000, claims: payload };
}
