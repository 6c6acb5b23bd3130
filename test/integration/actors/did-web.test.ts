/** Proofs whose issuer is a `did:web`, against documents that a real HTTP server provides. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { actorAuthentication } from "../../../services/contract/config/actor-authentication.ts";
import type { Finding, ProofVerifier } from "../../../services/engine/actors/verifier.ts";
import { createVerifier } from "../../../services/verification/create-verifier.ts";
import { DID_PATH, type IdentityProvider, startIdentityProvider } from "../../support/identity-provider.ts";

let provider: IdentityProvider;
let nowMs = 0;

beforeEach(async () => {
  provider = await startIdentityProvider();
  nowMs = 0;
});
afterEach(() => provider[Symbol.asyncDispose]());

/** Trusts the provider's own identifier, over plain HTTP since it is on loopback. */
function verifierOf(section: Readonly<Record<string, unknown>> = {}): ProofVerifier {
  const trust = "did_pattern" in section ? {} : { did_allowlist: [provider.did] };
  const parsed = actorAuthentication.parse({
    verifier: { type: "jwks", algorithms: ["EdDSA"], allow_insecure_url: true, ...trust, ...section },
  });
  const verifier = createVerifier(parsed.verifier, { folder: "/", monotonicMs: () => nowMs });
  if (verifier === null) throw new Error("nothing is verified");
  return verifier;
}

async function verify(
  verifier: ProofVerifier,
  claims: Readonly<Record<string, unknown>> = {},
  options: Parameters<IdentityProvider["sign"]>[1] = {},
): Promise<Finding> {
  const { did } = provider;
  const text = await provider.sign({ iss: did, sub: did, ...claims }, options);
  return await verifier.verify({ text, statedId: did, nowMs: Date.now() });
}

const REJECTED = (failureKind: string) => ({ status: "rejected", failureKind });

describe("a proof of a did:web", () => {
  it("that is trusted is verified with the keys of its own document", async () => {
    const verifier = verifierOf();
    expect(await verify(verifier)).toMatchObject({ status: "verified", identity: provider.did });
    expect(await verify(verifier)).toMatchObject({ status: "verified" });
    expect(provider.asked(DID_PATH)).toBe(1);
  });

  it("that is not trusted is rejected, and its document is never asked for", async () => {
    const elsewhere = verifierOf({ did_allowlist: ["did:web:agents.example"] });
    expect(await verify(elsewhere)).toMatchObject(REJECTED("policy"));
    expect(await verify(verifierOf(), { iss: "https://agents.example" })).toMatchObject(REJECTED("policy"));
    expect(await verify(verifierOf(), { iss: undefined })).toMatchObject(REJECTED("policy"));
    expect(provider.asked(DID_PATH)).toBe(0);
  });

  it("may be trusted by a pattern", async () => {
    expect(await verify(verifierOf({ did_pattern: "did:web:*" }))).toMatchObject({ status: "verified" });
    expect(await verify(verifierOf({ did_pattern: "did:web:*:*" }))).toMatchObject(REJECTED("policy"));
  });

  it("speaks for nobody but its issuer, also where another name may be stated", async () => {
    for (const section of [{}, { require_sub_match: false }]) {
      const finding = await verify(verifierOf(section), { sub: "did:web:agents.example" });
      expect(finding).toMatchObject(REJECTED("claims"));
    }
  });

  it("is rejected if the document is about somebody else", async () => {
    provider.publishDid((document) => ({ ...document, id: "did:web:agents.example" }));
    expect(await verify(verifierOf())).toMatchObject(REJECTED("policy"));
  });

  it("never leads to an address of this machine or its network unless that is allowed", async () => {
    const verifier = verifierOf({ did_pattern: "did:web:*", allow_insecure_url: false });
    const { port } = new URL(provider.url);
    for (const host of ["127.0.0.1", "localhost", "10.0.0.1", "169.254.169.254", "0x7f000001"]) {
      const did = `did:web:${host}%3A${port}`;
      const finding = await verify(verifier, { iss: did, sub: did });
      expect(finding.status).toBe("unavailable");
      expect((finding as { reason: string }).reason).toContain("private address");
    }
    expect(provider.asked(DID_PATH)).toBe(0);
  });

  it("leaves alone what is no address", async () => {
    const verifier = verifierOf({ did_pattern: "did:web:*:*" });
    for (const did of [
      "did:web:user%40evil.example:a",
      "did:web:evil.example%2Fx:a",
      "did:web:evil.example:..",
      "did:web:evil.example:%2e%2e",
      "did:web:evil.example:a%2Fb",
      "did:web:%E0%A4%A:a",
      "did:web::a",
      "did:key:evil.example:a",
    ]) {
      expect(await verify(verifier, { iss: did, sub: did })).toMatchObject(REJECTED("policy"));
    }
  });
});

describe("keys of a document", () => {
  it("count if it lists them for assertions, or any do where the configuration says so", async () => {
    provider.publishDid((document) => ({ ...document, assertionMethod: [] }));
    expect(await verify(verifierOf())).toMatchObject(REJECTED("crypto"));
    expect(await verify(verifierOf({ did_strict_relationship: false }))).toMatchObject({
      status: "verified",
    });
  });

  it("may be embedded in the list, or be named in full or in short", async () => {
    provider.publishDid(({ verificationMethod, ...document }) => ({
      ...document,
      assertionMethod: verificationMethod,
    }));
    await provider.addKey("second");
    const verifier = verifierOf();
    for (const kid of ["second", "#second", `${provider.did}#second`]) {
      expect(await verify(verifier, {}, { header: { kid } })).toMatchObject({ status: "verified" });
    }
  });

  it("that another subject controls do not count", async () => {
    provider.publishDid(({ verificationMethod, ...document }) => ({
      ...document,
      verificationMethod: (verificationMethod as object[]).map((method) => ({
        ...method,
        controller: "did:web:agents.example",
      })),
    }));
    expect(await verify(verifierOf())).toMatchObject(REJECTED("crypto"));
  });

  it("may be called anything if there is only one, unless the configuration says no", async () => {
    const header = { kid: "whatever" };
    expect(await verify(verifierOf(), {}, { header })).toMatchObject({ status: "verified" });
    expect(await verify(verifierOf({ did_loose_kid_match: false }), {}, { header })).toMatchObject(
      REJECTED("crypto"),
    );
    await provider.addKey("second");
    expect(await verify(verifierOf(), {}, { header })).toMatchObject(REJECTED("crypto"));
  });

  it("that were rotated are found at once", async () => {
    const verifier = verifierOf({ did_loose_kid_match: false });
    await verify(verifier);
    await provider.addKey("second");
    expect(await verify(verifier)).toMatchObject({ status: "verified" });
    expect(provider.asked(DID_PATH)).toBe(2);
  });

  it("past their time still serve while the document is away", async () => {
    const verifier = verifierOf({ cache_ttl_seconds: 60 });
    await verify(verifier);
    await provider.stop();
    nowMs += 60_000;
    expect(await verify(verifier)).toMatchObject({ status: "verified", staleForMs: 60_000 });
  });
});
