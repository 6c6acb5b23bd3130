import { describe, expect, it } from "vitest";
import { actorAuthentication } from "../../../services/contract/config/actor-authentication.ts";

const JWKS = { type: "jwks", algorithms: ["RS256"], jwks_uri: "https://id.example/keys" };

function faultsOf(section: unknown): string[] {
  const { error } = actorAuthentication.safeParse(section);
  return (error?.issues ?? []).map((issue) => issue.path.join("."));
}

describe("the section actor_authentication", () => {
  it("verifies nothing where it is not there, as task-orchestrator does", () => {
    expect(actorAuthentication.parse(undefined)).toMatchObject({
      degraded_mode_policy: "accept-cached",
      verifier: { type: "noop" },
    });
  });

  it("takes a key set with the defaults of task-orchestrator", () => {
    expect(actorAuthentication.parse({ verifier: JWKS }).verifier).toMatchObject({
      cache_ttl_seconds: 300,
      require_sub_match: true,
      stale_on_error: true,
      did_strict_relationship: true,
      did_loose_kid_match: true,
      allow_insecure_url: false,
      max_token_lifetime_seconds: 86_400,
      jti_replay_protection: false,
    });
  });

  it.each<[string, unknown, string[]]>([
    ["an unknown verifier", { verifier: { type: "magic" } }, ["verifier.type"]],
    ["an unknown key", { verifier: { ...JWKS, jwks_url: "x" } }, ["verifier"]],
    ["an unknown policy", { degraded_mode_policy: "trust" }, ["degraded_mode_policy"]],
    ["no algorithms", { verifier: { ...JWKS, algorithms: [] } }, ["verifier.algorithms"]],
    [
      "an algorithm with a shared secret",
      { verifier: { ...JWKS, algorithms: ["HS256"] } },
      ["verifier.algorithms.0"],
    ],
    ["the algorithm none", { verifier: { ...JWKS, algorithms: ["none"] } }, ["verifier.algorithms.0"]],
    ["no source of keys", { verifier: { ...JWKS, jwks_uri: undefined } }, ["verifier.type"]],
    ["two sources of keys", { verifier: { ...JWKS, jwks_path: "keys.json" } }, ["verifier.type"]],
    ["a key set and DIDs", { verifier: { ...JWKS, did_pattern: "did:web:*" } }, ["verifier.type"]],
    ["plain http", { verifier: { ...JWKS, jwks_uri: "http://id.example/keys" } }, ["verifier.jwks_uri"]],
    ["a file address", { verifier: { ...JWKS, jwks_uri: "file:///keys" } }, ["verifier.jwks_uri"]],
    [
      "another method than did:web",
      { verifier: { type: "jwks", algorithms: ["EdDSA"], did_allowlist: ["did:key:z6Mk"] } },
      ["verifier.did_allowlist.0"],
    ],
    [
      "an issuer besides DIDs",
      { verifier: { type: "jwks", algorithms: ["EdDSA"], did_pattern: "did:web:*", issuer: "x" } },
      ["verifier.issuer"],
    ],
  ])("refuses %s", (_, section, faults) => {
    expect(faultsOf(section)).toEqual(faults);
  });

  it("takes plain http from this machine, and from elsewhere where the operator insists", () => {
    for (const host of ["localhost:1", "127.0.0.1", "127.9.9.9", "[::1]"]) {
      expect(faultsOf({ verifier: { ...JWKS, jwks_uri: `http://${host}/keys` } })).toEqual([]);
    }
    const insisting = { ...JWKS, jwks_uri: "http://id.example/keys", allow_insecure_url: true };
    expect(faultsOf({ verifier: insisting })).toEqual([]);
    expect(faultsOf({ verifier: { ...JWKS, jwks_uri: "http://127.0.0.1.evil.example/" } })).toEqual([
      "verifier.jwks_uri",
    ]);
  });
});
