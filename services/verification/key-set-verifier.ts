/** Verifies proofs with one key set: by address, by file, or by OpenID discovery. */
import { decodeProtectedHeader, errors } from "jose";
import type { Finding, ProofVerifier, Rejected, Unavailable } from "../engine/actors/verifier.ts";
import { checkToken, rejected, type TokenRules } from "./check-token.ts";
import type { KeptKeys, KeyCache } from "./key-cache.ts";
import type { KeySet } from "./key-sources.ts";
import { KeysUnavailable } from "./keys-unavailable.ts";

export function createKeySetVerifier(cache: KeyCache<KeySet>, rules: TokenRules): ProofVerifier {
  return {
    name: "jwks",
    async verify(proof): Promise<Finding> {
      // Made up or signed in a way that is refused anyway: nothing has to be fetched for it.
      const refusal = refuseHeader(proof.text, rules.algorithms);
      if (refusal !== null) return refusal;
      const check = async (kept: KeptKeys<KeySet>): Promise<Finding> => {
        const issuer = rules.issuer ?? kept.keys.issuer;
        const checked = await checkToken(proof, kept.keys.find, { ...rules, issuer });
        return checked.status === "verified" ? { ...checked, staleForMs: kept.staleForMs } : checked;
      };
      return await withNewestKeys(cache, check);
    },
  };
}

/** Checks with the keys at hand, and once more with newer ones if there is none for the proof. */
export async function withNewestKeys<K, F>(
  cache: KeyCache<K>,
  check: (kept: KeptKeys<K>) => Promise<F>,
): Promise<F | Rejected | Unavailable> {
  try {
    const kept = await cache.current();
    const first = await orNull(check(kept));
    if (first !== null) return first;
    const newer = await cache.newerThan(kept);
    const second = newer === null ? null : await orNull(check(newer));
    return second ?? rejected("crypto", "none of the keys is the one it names");
  } catch (error) {
    if (error instanceof KeysUnavailable) return { status: "unavailable", reason: error.message };
    throw error;
  }
}

async function orNull<F>(checking: Promise<F>): Promise<F | null> {
  try {
    return await checking;
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return null;
    throw error;
  }
}

/** What is wrong with a proof before anything is known of its keys; null if nothing is. */
export function refuseHeader(text: string, algorithms: readonly string[]): Rejected | null {
  try {
    const { alg } = decodeProtectedHeader(text);
    return alg !== undefined && algorithms.includes(alg)
      ? null
      : rejected("policy", "its algorithm is not allowed");
  } catch {
    return rejected("crypto", "it is not a signed JWT");
  }
}
