/** The verifier that a configuration asks for. */
import { isAbsolute, resolve } from "node:path";
import type { VerifierSection } from "../contract/config/actor-authentication.ts";
import type { ProofVerifier } from "../engine/actors/verifier.ts";
import type { TokenRules } from "./check-token.ts";
import { createDidVerifier } from "./did-verifier.ts";
import { KeyCache } from "./key-cache.ts";
import { createKeySetVerifier } from "./key-set-verifier.ts";
import { keysFromDiscovery, keysFromFile, keysFromUri, type LoadKeys } from "./key-sources.ts";

export interface VerifierOptions {
  /** Folder that a relative `jwks_path` starts from: that of the configuration file. */
  readonly folder: string;
  readonly monotonicMs?: () => number;
}

/** Null where nothing is to be verified. Nothing is fetched before the first proof. */
export function createVerifier(
  section: VerifierSection,
  { folder, monotonicMs = () => performance.now() }: VerifierOptions,
): ProofVerifier | null {
  if (section.type === "noop") return null;
  const rules: TokenRules = {
    algorithms: section.algorithms,
    issuer: section.issuer ?? null,
    audience: section.audience ?? null,
    requireSubMatch: section.require_sub_match,
    maxLifetimeSeconds: section.max_token_lifetime_seconds,
  };
  const keeping = {
    ttlMs: section.cache_ttl_seconds * 1000,
    staleOnError: section.stale_on_error,
    monotonicMs,
  };
  const load = keySource(section, folder);
  if (load !== null) return createKeySetVerifier(new KeyCache({ load, ...keeping }), rules);
  return createDidVerifier(
    {
      allowlist: section.did_allowlist,
      pattern: section.did_pattern ?? null,
      strictRelationship: section.did_strict_relationship,
      looseKidMatch: section.did_loose_kid_match,
      insecure: section.allow_insecure_url,
      ...keeping,
    },
    rules,
  );
}

type KeySourceSection = Pick<
  VerifierSection,
  "oidc_discovery" | "jwks_uri" | "jwks_path" | "allow_insecure_url"
>;

/** Null where no key set is named. */
export function keySource(section: KeySourceSection, folder: string): LoadKeys | null {
  const { oidc_discovery: discovery, jwks_uri: uri, jwks_path: path } = section;
  if (discovery !== undefined) return keysFromDiscovery(discovery, section.allow_insecure_url);
  if (uri !== undefined) return keysFromUri(uri);
  return path === undefined ? null : keysFromFile(isAbsolute(path) ? path : resolve(folder, path));
}
