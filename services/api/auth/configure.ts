/** The gate that the environment asks for; the same alone and in a fleet. */
import type { Counters } from "../../coordination/port.ts";
import type { Credentials } from "../../engine/tokens/credentials.ts";
import type { ApiConfig } from "../../runtime/config.ts";
import type { ApiAuth } from "../create-api.ts";

type AuthConfig = Pick<
  ApiConfig,
  | "auth"
  | "publicUrl"
  | "jwtIssuer"
  | "jwtAudience"
  | "jwtAlgorithms"
  | "oidcDiscovery"
  | "jwksUrl"
  | "jwksPath"
  | "rateLimit"
  | "rateLimitAddress"
  | "trustedProxies"
>;

const PER_CREDENTIAL = 60_000;
const PER_ADDRESS = 120_000;

/** Undefined where access tokens are not taken. `url` is asked when the first one comes. */
export function accessTokensOf(config: AuthConfig, url: () => string) {
  const { auth, oidcDiscovery, jwksUrl, jwksPath, jwtIssuer, jwtAlgorithms, jwtAudience } = config;
  if (auth !== "jwt") return undefined;
  return {
    oidcDiscovery,
    jwksUrl,
    jwksPath,
    issuer: jwtIssuer,
    algorithms: jwtAlgorithms,
    audience: () => jwtAudience ?? namesOf((config.publicUrl ?? url()).replace(/\/$/, "")),
  };
}

/** What clients ask tokens for, depending on which metadata they have read. */
function namesOf(baseUrl: string): string[] {
  return [`${baseUrl}/mcp`, baseUrl, `${baseUrl}/`];
}

/** Zero is as many as come. Nobody is limited by default who has this machine for himself. */
export function authOf(
  { auth, rateLimit, rateLimitAddress, trustedProxies }: AuthConfig,
  opened: {
    readonly credentials: Credentials;
    readonly counters: Counters;
    readonly authorizationServers: readonly string[];
  },
): ApiAuth {
  const limit = (set: number | undefined, preset: number): number | null =>
    (set ?? (auth === "off" ? 0 : preset)) || null;
  return {
    ...opened,
    mode: auth,
    trustedProxies,
    limits: {
      perCredential: limit(rateLimit, PER_CREDENTIAL),
      perAddress: limit(rateLimitAddress, PER_ADDRESS),
    },
  };
}
