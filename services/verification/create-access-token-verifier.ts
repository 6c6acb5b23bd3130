/** The verifier of access tokens that the environment asks for, or else the configuration's own source of keys. */
import { isAbsolute, resolve } from "node:path";
import type { VerifierSection } from "../contract/config/actor-authentication.ts";
import type { AccessTokenVerifier } from "../engine/tokens/access-token-verifier.ts";
import { createAccessTokenVerifier } from "./access-token-verifier.ts";
import { keySource } from "./create-verifier.ts";
import { KeyCache } from "./key-cache.ts";

export interface AccessTokenOptions {
  readonly oidcDiscovery?: string | undefined;
  readonly jwksUrl?: string | undefined;
  readonly jwksPath?: string | undefined;
  readonly issuer?: string | undefined;
  readonly algorithms: readonly string[];
  /** Names of this server; asked for when the first token comes, since a port may not be known before. */
  readonly audience: () => readonly string[];
}

export interface AccessTokens {
  readonly verifier: AccessTokenVerifier;
  /** Whom clients get their tokens from. */
  readonly authorizationServers: readonly string[];
}

/** It is not said where the keys are, or whose they are. The message names the settings. */
export class UnclearIssuer extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UnclearIssuer";
  }
}

const DISCOVERY_SUFFIX = /\/\.well-known\/(openid-configuration|oauth-authorization-server)$/;

/**
 * Nothing is fetched before the first token.
 * @throws UnclearIssuer when it is not said where the keys are, or who signs with them.
 */
export function createAccessTokens(
  options: AccessTokenOptions,
  section: VerifierSection,
  folder: string,
): AccessTokens {
  const named = [options.oidcDiscovery, options.jwksUrl, options.jwksPath].filter((one) => one !== undefined);
  if (named.length > 1)
    throw new UnclearIssuer(
      "Set one of MUSTER_OIDC_DISCOVERY, MUSTER_JWKS_URL and MUSTER_JWKS_PATH, not several.",
    );
  const source =
    named.length === 1
      ? {
          oidc_discovery: options.oidcDiscovery,
          jwks_uri: options.jwksUrl,
          // Relative to where the process was started, as every path of the environment is.
          jwks_path:
            options.jwksPath === undefined || isAbsolute(options.jwksPath)
              ? options.jwksPath
              : resolve(options.jwksPath),
          allow_insecure_url: section.allow_insecure_url,
        }
      : section;
  const load = keySource(source, folder);
  const issuer = options.issuer ?? (named.length === 1 ? undefined : section.issuer);
  if (load === null)
    throw new UnclearIssuer(
      "MUSTER_AUTH=jwt needs to know where the keys are: set MUSTER_OIDC_DISCOVERY, MUSTER_JWKS_URL or " +
        "MUSTER_JWKS_PATH, or give actor_authentication.verifier in the configuration file a key set.",
    );
  if (issuer === undefined && source.oidc_discovery === undefined)
    throw new UnclearIssuer(
      "MUSTER_AUTH=jwt needs to know who issues the tokens: set MUSTER_JWT_ISSUER, or MUSTER_OIDC_DISCOVERY, whose document says so.",
    );
  const cache = new KeyCache({
    load,
    ttlMs: section.cache_ttl_seconds * 1000,
    staleOnError: section.stale_on_error,
    monotonicMs: () => performance.now(),
  });
  const { algorithms, audience } = options;
  return {
    verifier: createAccessTokenVerifier(cache, { algorithms, audience, issuer: issuer ?? null }),
    authorizationServers: [issuer ?? (source.oidc_discovery ?? "").replace(DISCOVERY_SUFFIX, "")],
  };
}
