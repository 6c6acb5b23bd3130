/**
 * Verifies proofs whose issuer is a `did:web`: the keys are in the document of the very
 * identifier that the proof is about. Which identifiers count is decided before anything is
 * fetched, and a document never comes from an address of this machine or its network.
 */
import { createLocalJWKSet, decodeJwt, type JWTVerifyGetKey } from "jose";
import type { Finding, Proof, ProofVerifier } from "../engine/actors/verifier.ts";
import { checkToken, rejected, type TokenRules } from "./check-token.ts";
import { type DidKey, documentUrl, isTrustedDid, keysNamed, keysOfDocument } from "./did-web.ts";
import { fetchJson } from "./fetch-json.ts";
import { KeyCache } from "./key-cache.ts";
import { refuseHeader, withNewestKeys } from "./key-set-verifier.ts";
import { isLoopbackHost } from "./private-address.ts";

const DOCUMENTS_MAX = 256;

export interface DidTrust {
  readonly allowlist: readonly string[];
  readonly pattern: string | null;
  /** Only keys that the document lists for assertions. */
  readonly strictRelationship: boolean;
  /** The only key of a document is meant, whatever a proof calls it. */
  readonly looseKidMatch: boolean;
  /** Loopback serves documents too, without encryption: for trying things out. */
  readonly insecure: boolean;
  readonly ttlMs: number;
  readonly staleOnError: boolean;
  readonly monotonicMs: () => number;
}

/** Null: the document is about somebody else. */
type Document = readonly DidKey[] | null;

export function createDidVerifier(trust: DidTrust, rules: TokenRules): ProofVerifier {
  // Those used last at the end, so that the first is the one to forget.
  const documents = new Map<string, KeyCache<Document>>();

  function documentOf(did: string, url: URL): KeyCache<Document> {
    const cache =
      documents.get(did) ??
      new KeyCache<Document>({
        load: async () => {
          const mayBePrivate = trust.insecure && isLoopbackHost(url.hostname);
          return keysOfDocument(await fetchJson(url, { mayBePrivate }), did, trust.strictRelationship);
        },
        ttlMs: trust.ttlMs,
        staleOnError: trust.staleOnError,
        monotonicMs: trust.monotonicMs,
      });
    documents.delete(did);
    documents.set(did, cache);
    for (const oldest of documents.keys()) {
      if (documents.size <= DOCUMENTS_MAX) break;
      documents.delete(oldest);
    }
    return cache;
  }

  return {
    name: "jwks",
    async verify(proof): Promise<Finding> {
      const refusal = refuseHeader(proof.text, rules.algorithms);
      if (refusal !== null) return refusal;
      const issuer = issuerOf(proof);
      if (issuer === null) return rejected("crypto", "it is not a signed JWT");
      const url = isTrustedDid(issuer, trust) ? urlOf(issuer, trust.insecure) : null;
      if (url === null) return rejected("policy", "its issuer is not trusted here");
      return await withNewestKeys(documentOf(issuer, url), async ({ keys, staleForMs }) => {
        if (keys === null) return rejected("policy", "the document of its issuer is about somebody else");
        const find = findIn(keys, issuer, trust.looseKidMatch);
        const checked = await checkToken(proof, find, { ...rules, issuer });
        if (checked.status !== "verified") return checked;
        // Whoever holds the keys of one identifier must not speak for another.
        if (checked.identity !== issuer) return rejected("claims", "its sub is not its iss");
        return { ...checked, staleForMs };
      });
    },
  };
}

function issuerOf(proof: Proof): string | null {
  try {
    const { iss } = decodeJwt(proof.text);
    return typeof iss === "string" ? iss : "";
  } catch {
    return null;
  }
}

function urlOf(did: string, insecure: boolean): URL | null {
  const url = documentUrl(did, "https");
  return url !== null && insecure && isLoopbackHost(url.hostname) ? documentUrl(did, "http") : url;
}

/** Searches the keys by the name a proof gives them, which may be short or, for an only key, any. */
function findIn(keys: readonly DidKey[], did: string, loose: boolean): JWTVerifyGetKey {
  return async (header, token) => {
    const { kid } = header;
    const named = keysNamed(keys, kid, did, loose).map(({ jwk }) => {
      const { kid: _own, ...bare } = jwk;
      return kid === undefined ? bare : { ...bare, kid };
    });
    return await createLocalJWKSet({ keys: named })(header, token);
  };
}
