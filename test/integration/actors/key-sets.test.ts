/** Proofs against key sets that a real HTTP server, or a file, provides. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SignJWT, UnsecuredJWT } from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { actorAuthentication } from "../../../services/contract/config/actor-authentication.ts";
import type { Finding, ProofVerifier } from "../../../services/engine/actors/verifier.ts";
import { createVerifier } from "../../../services/verification/create-verifier.ts";
import {
  DISCOVERY_PATH,
  type IdentityProvider,
  JWKS_PATH,
  startIdentityProvider,
} from "../../support/identity-provider.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const AUDIENCE = "muster";
const MINUTE_MS = 60_000;

let provider: IdentityProvider;
let nowMs = 0;

beforeEach(async () => {
  provider = await startIdentityProvider();
  nowMs = 0;
});
afterEach(() => provider[Symbol.asyncDispose]());

function verifierOf(section: Readonly<Record<string, unknown>>, folder = "/"): ProofVerifier {
  const parsed = actorAuthentication.parse({
    verifier: { type: "jwks", algorithms: ["EdDSA"], audience: AUDIENCE, ...section },
  });
  const verifier = createVerifier(parsed.verifier, { folder, monotonicMs: () => nowMs });
  if (verifier === null) throw new Error("nothing is verified");
  return verifier;
}

/** With the key set at its address, signed by the provider and nobody else. */
function usual(section: Readonly<Record<string, unknown>> = {}): ProofVerifier {
  return verifierOf({ jwks_uri: provider.jwksUri, issuer: provider.issuer, ...section });
}

function verify(verifier: ProofVerifier, text: string, statedId = "ann"): Promise<Finding> {
  return verifier.verify({ text, statedId, nowMs: Date.now() });
}

function proofOf(
  claims: Readonly<Record<string, unknown>> = {},
  options: Parameters<IdentityProvider["sign"]>[1] = {},
): Promise<string> {
  return provider.sign({ sub: "ann", aud: AUDIENCE, ...claims }, options);
}

const seconds = (from: number): number => Math.floor(Date.now() / 1000) + from;

describe("a proof", () => {
  it("that is right in every way is verified, with the claims that are registered and no others", async () => {
    const proof = await proofOf({ jti: "1", roles: ["admin"] });
    expect(await verify(usual(), proof)).toMatchObject({
      status: "verified",
      identity: "ann",
      issuer: provider.issuer,
      tokenId: "1",
      staleForMs: null,
      claims: { sub: "ann", aud: AUDIENCE, jti: "1" },
    });
    const finding = await verify(usual(), proof);
    expect(JSON.stringify(finding)).not.toContain("admin");
    expect(JSON.stringify(finding)).not.toContain(proof);
  });

  it.each<[string, Readonly<Record<string, unknown>>, string, string]>([
    ["has expired", { iat: seconds(-600), exp: seconds(-120) }, "claims", "expired"],
    ["never expires", { exp: undefined }, "claims", "exp"],
    ["is not valid yet", { nbf: seconds(300) }, "claims", "not valid yet"],
    ["was made in the future", { iat: seconds(300), exp: seconds(600) }, "claims", "future"],
    ["lives too long", { exp: seconds(2 * 86_400) }, "claims", "longer"],
    [
      "lives too long, and does not say since when",
      { iat: undefined, exp: seconds(2 * 86_400) },
      "claims",
      "longer",
    ],
    ["is meant for another server", { aud: "elsewhere" }, "claims", "aud"],
    ["is meant for nobody", { aud: undefined }, "claims", "aud"],
    ["comes from another issuer", { iss: "https://evil.example" }, "claims", "iss"],
    ["names somebody else", { sub: "bob" }, "claims", "sub"],
    ["names nobody", { sub: undefined }, "claims", "sub"],
  ])("that %s is rejected", async (_, claims, failureKind, word) => {
    const finding = await verify(usual(), await proofOf(claims));
    expect(finding).toMatchObject({ status: "rejected", failureKind });
    expect((finding as { reason: string }).reason).toContain(word);
  });

  it("that expired within the tolerance of clocks is verified", async () => {
    expect(await verify(usual(), await proofOf({ exp: seconds(-30) }))).toMatchObject({ status: "verified" });
  });

  it("that is judged by the database's clock expires by it", async () => {
    const proof = await proofOf();
    expect(
      await usual().verify({ text: proof, statedId: "ann", nowMs: Date.now() + 10 * MINUTE_MS }),
    ).toMatchObject({ status: "rejected", failureKind: "claims" });
  });

  it("may name somebody else where the configuration says so, and then counts as theirs", async () => {
    const proof = await proofOf({ sub: "bob" });
    expect(await verify(usual({ require_sub_match: false }), proof)).toMatchObject({
      status: "verified",
      identity: "bob",
    });
  });

  it("that was changed after signing is rejected [B85]", async () => {
    const [header, payload, signature] = (await proofOf({ sub: "bob" })).split(".");
    const forged = JSON.parse(Buffer.from(payload ?? "", "base64url").toString()) as object;
    const changed = Buffer.from(JSON.stringify({ ...forged, sub: "ann" })).toString("base64url");
    expect(await verify(usual(), `${header}.${changed}.${signature}`)).toMatchObject({
      status: "rejected",
      failureKind: "crypto",
    });
  });

  it("signed by a stranger under the name of a key that is known is rejected [B85]", async () => {
    await using stranger = await startIdentityProvider();
    const claims = { iss: provider.issuer, sub: "ann", aud: AUDIENCE };
    const finding = await verify(usual(), await stranger.sign(claims, { kid: "first" }));
    expect(finding).toMatchObject({ status: "rejected", failureKind: "crypto" });
  });

  it("without a signature, with a shared secret, or that is no token at all asks nobody for keys", async () => {
    const claims = { iss: provider.issuer, sub: "ann", aud: AUDIENCE, iat: seconds(0), exp: seconds(300) };
    const unsigned = new UnsecuredJWT(claims).encode();
    const secret = await new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(Buffer.alloc(32, 1));
    const verifier = usual();
    for (const text of [unsigned, secret]) {
      expect(await verify(verifier, text)).toMatchObject({ status: "rejected", failureKind: "policy" });
    }
    for (const text of ["", "x", "a.b.c", "…"]) {
      expect(await verify(verifier, text)).toMatchObject({ status: "rejected", failureKind: "crypto" });
    }
    expect(provider.asked(JWKS_PATH)).toBe(0);
  });

  it("without the name of a key is tried with those that fit", async () => {
    await provider.addKey("second");
    const header = { kid: undefined } as never;
    for (const kid of ["first", "second"]) {
      expect(await verify(usual(), await proofOf({}, { kid, header }))).toMatchObject({ status: "verified" });
    }
    await using stranger = await startIdentityProvider();
    const claims = { iss: provider.issuer, sub: "ann", aud: AUDIENCE };
    expect(await verify(usual(), await stranger.sign(claims, { header }))).toMatchObject({
      status: "rejected",
      failureKind: "crypto",
    });
  });
});

describe("keys", () => {
  it("are fetched once for many proofs, and again when they are past their time", async () => {
    const verifier = usual({ cache_ttl_seconds: 60 });
    const proof = await proofOf();
    await Promise.all(Array.from({ length: 20 }, () => verify(verifier, proof)));
    expect(provider.asked(JWKS_PATH)).toBe(1);
    nowMs += MINUTE_MS;
    await Promise.all(Array.from({ length: 20 }, () => verify(verifier, proof)));
    expect(provider.asked(JWKS_PATH)).toBe(2);
  });

  it("that were rotated are found at once, and those that were taken back count no more", async () => {
    const verifier = usual({ cache_ttl_seconds: 60 });
    const old = await proofOf();
    await verify(verifier, old);
    await provider.addKey("second");
    provider.retract("first");
    expect(await verify(verifier, await proofOf({}, { kid: "second" }))).toMatchObject({
      status: "verified",
    });
    expect(await verify(verifier, old)).toMatchObject({ status: "rejected", failureKind: "crypto" });
  });

  it("are not fetched for every name that somebody makes up", async () => {
    const verifier = usual();
    for (let index = 0; index < 20; index += 1) {
      const made = await proofOf({}, { header: { kid: `made up ${index}` } });
      expect(await verify(verifier, made)).toMatchObject({ status: "rejected", failureKind: "crypto" });
    }
    expect(provider.asked(JWKS_PATH)).toBe(2);
    nowMs += 10_000;
    await verify(verifier, await proofOf({}, { header: { kid: "made up" } }));
    expect(provider.asked(JWKS_PATH)).toBe(3);
  });

  it("past their time still serve while their source is away, and say how old they are", async () => {
    const verifier = usual({ cache_ttl_seconds: 60 });
    const proof = await proofOf();
    await verify(verifier, proof);
    await provider.stop();
    nowMs += 90_000;
    expect(await verify(verifier, proof)).toMatchObject({ status: "verified", staleForMs: 90_000 });
    const forged = `${proof.slice(0, -8)}AAAAAAAA`;
    expect(await verify(verifier, forged)).toMatchObject({ status: "rejected", failureKind: "crypto" });
    // One that the old keys do not have may be newer than they are.
    const newer = await proofOf({}, { header: { kid: "newer" } });
    expect(await verify(verifier, newer)).toMatchObject({ status: "unavailable" });
    await provider.start();
    nowMs += 5_000;
    expect(await verify(verifier, proof)).toMatchObject({ status: "verified", staleForMs: null });
  });

  it("past their time serve for a day at most, and not at all where they must not", async () => {
    const patient = usual({ cache_ttl_seconds: 60 });
    const strict = usual({ cache_ttl_seconds: 60, stale_on_error: false });
    const proof = await proofOf();
    await Promise.all([verify(patient, proof), verify(strict, proof)]);
    await provider.stop();
    nowMs += MINUTE_MS;
    expect(await verify(patient, proof)).toMatchObject({ status: "verified" });
    expect(await verify(strict, proof)).toMatchObject({ status: "unavailable" });
    nowMs += 24 * 60 * MINUTE_MS;
    expect(await verify(patient, proof)).toMatchObject({ status: "unavailable" });
  });

  it("that were never there are unavailable, and their source is not asked by everybody", async () => {
    provider.misbehave(JWKS_PATH, (response) => void response.writeHead(500).end());
    const verifier = usual();
    const proof = await proofOf();
    for (let index = 0; index < 5; index += 1) {
      expect(await verify(verifier, proof)).toMatchObject({ status: "unavailable" });
    }
    expect(provider.asked(JWKS_PATH)).toBe(1);
    provider.misbehave(JWKS_PATH, null);
    nowMs += 5_000;
    expect(await verify(verifier, proof)).toMatchObject({ status: "verified" });
  });

  it.each<[string, Parameters<IdentityProvider["misbehave"]>[1], string]>([
    ["redirects", (response) => void response.writeHead(302, { location: "/elsewhere" }).end(), "302"],
    [
      "sends no JSON",
      (response) => void response.writeHead(200, { "content-type": "text/html" }).end("{}"),
      "JSON",
    ],
    [
      "sends broken JSON",
      (response) => void response.writeHead(200, { "content-type": "application/json" }).end('{"keys":'),
      "JSON",
    ],
    [
      "sends something else",
      (response) => void response.writeHead(200, { "content-type": "application/json" }).end("[1]"),
      "no key set",
    ],
    [
      "sends without end",
      (response) => {
        response.writeHead(200, { "content-type": "application/json" });
        const more = (): void => {
          if (!response.destroyed) response.write(" ".repeat(256 * 1024), more);
        };
        more();
      },
      "1 MiB",
    ],
    ["hangs up", (response) => void response.destroy(), "cannot be reached"],
  ])("of a source that %s are unavailable", async (_, how, word) => {
    provider.misbehave(JWKS_PATH, how);
    const finding = await verify(usual(), await proofOf());
    expect(finding).toMatchObject({ status: "unavailable" });
    expect((finding as { reason: string }).reason).toContain(word);
    expect(provider.asked("/elsewhere")).toBe(0);
  });

  it("of a source that is silent are given up in time", async () => {
    provider.misbehave(JWKS_PATH, () => {});
    const startedMs = performance.now();
    expect(await verify(usual(), await proofOf())).toMatchObject({ status: "unavailable" });
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });

  it("may be in a file, which can be replaced without a restart", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "keys.json");
    await writeFile(file, JSON.stringify(provider.keySet()));
    const verifier = verifierOf(
      { jwks_path: "keys.json", issuer: provider.issuer, cache_ttl_seconds: 60 },
      folder.path,
    );
    expect(await verify(verifier, await proofOf())).toMatchObject({ status: "verified" });
    await provider.addKey("second");
    await writeFile(file, JSON.stringify(provider.keySet()));
    expect(await verify(verifier, await proofOf({}, { kid: "second" }))).toMatchObject({
      status: "verified",
    });
    expect(provider.asked(JWKS_PATH)).toBe(0);
  });

  it("may be where an OpenID provider says, which also says who signs with them", async () => {
    const verifier = verifierOf({ oidc_discovery: provider.discoveryUri });
    expect(await verify(verifier, await proofOf())).toMatchObject({ status: "verified" });
    expect(provider.asked(DISCOVERY_PATH)).toBe(1);
    expect(await verify(verifier, await proofOf({ iss: "https://evil.example" }))).toMatchObject({
      status: "rejected",
      failureKind: "claims",
    });
  });

  it("are not taken from where nobody can be sure of them", async () => {
    provider.misbehave(DISCOVERY_PATH, (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ issuer: provider.issuer, jwks_uri: "http://keys.example/keys" }));
    });
    const finding = await verify(verifierOf({ oidc_discovery: provider.discoveryUri }), await proofOf());
    expect(finding).toMatchObject({ status: "unavailable" });
    expect((finding as { reason: string }).reason).toContain("not safe");
  });
});
