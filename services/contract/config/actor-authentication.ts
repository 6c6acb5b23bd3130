/**
 * `actor_authentication:` of the global configuration file: how this server knows its actors.
 * Whatever is wrong with it ends the start: a server that verifies less than its operator
 * believes is worse than one that does not start.
 */
import { z } from "zod";

/** Signatures with a private key only: with a shared secret, whoever can check can also forge. */
export const ALGORITHMS = [
  "EdDSA",
  "Ed25519",
  "ES256",
  "ES384",
  "ES512",
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
] as const;

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const DID_WEB = /^did:web:[A-Za-z0-9.%_-]+(:[A-Za-z0-9.%_-]+)*$/;
const DID_PATTERN = /^did:web:([A-Za-z0-9.%_-]+|\*)(:([A-Za-z0-9.%_-]+|\*))*$/;

const address = z.url({ protocol: /^https?$/, error: "must be an https address" });

const verifier = z
  .strictObject({
    type: z.enum(["noop", "jwks"]).default("noop"),
    oidc_discovery: address.optional(),
    jwks_uri: address.optional(),
    jwks_path: z.string().min(1).optional(),
    did_allowlist: z.array(z.string().regex(DID_WEB, "must be did:web identifiers")).default([]),
    did_pattern: z
      .string()
      .regex(DID_PATTERN, "must be a did:web identifier in which * stands for one part")
      .optional(),
    algorithms: z.array(z.enum(ALGORITHMS)).default([]),
    issuer: z.string().min(1).optional(),
    audience: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]).optional(),
    cache_ttl_seconds: z.int().min(1).max(86_400).default(300),
    require_sub_match: z.boolean().default(true),
    stale_on_error: z.boolean().default(true),
    did_strict_relationship: z.boolean().default(true),
    did_loose_kid_match: z.boolean().default(true),
    allow_insecure_url: z.boolean().default(false),
    max_token_lifetime_seconds: z.int().min(1).max(31_536_000).default(86_400),
    jti_replay_protection: z.boolean().default(false),
  })
  .superRefine((section, context) => {
    const add = (field: string, message: string): void => {
      context.addIssue({ code: "custom", path: [field], message });
    };
    if (section.type !== "jwks") return;
    if (section.algorithms.length === 0) {
      add("algorithms", "must list the algorithms that proofs may be signed with");
    }
    const isDid = section.did_allowlist.length > 0 || section.did_pattern !== undefined;
    const sources = [section.oidc_discovery, section.jwks_uri, section.jwks_path].filter(
      (source) => source !== undefined,
    ).length;
    if (sources + Number(isDid) !== 1) {
      add("type", "jwks needs one source of keys: oidc_discovery, jwks_uri, jwks_path, or DIDs to trust");
    }
    if (isDid && section.issuer !== undefined) {
      add("issuer", "belongs to a key set; where DIDs are trusted, the DID is the issuer");
    }
    for (const field of ["oidc_discovery", "jwks_uri"] as const) {
      const url = section[field] === undefined ? null : URL.parse(section[field]);
      if (url?.protocol === "http:" && !section.allow_insecure_url && !LOOPBACK.test(url.hostname)) {
        add(field, "must be https: whoever is on the way could put in keys of their own");
      }
    }
  });

export const actorAuthentication = z
  .strictObject({
    /** Only read by clients' hooks; a proof that comes is verified either way. */
    enabled: z.boolean().optional(),
    degraded_mode_policy: z
      .enum(["accept-cached", "accept-self-reported", "reject"])
      .default("accept-cached"),
    verifier: verifier.prefault({}),
  })
  .prefault({});

export type ActorAuthentication = z.output<typeof actorAuthentication>;
export type VerifierSection = ActorAuthentication["verifier"];
