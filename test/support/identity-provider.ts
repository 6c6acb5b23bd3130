/**
 * A provider of identities on loopback: a key set, its OpenID document and a `did:web` document,
 * served by a real HTTP server that a test can stop, slow down or make misbehave, and proofs
 * signed with its keys, valid or wrong in any way.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from "jose";

export const ALGORITHM = "EdDSA";

interface Key {
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

export interface ProofOptions {
  /** The key it is signed with; the newest when it does not say. */
  readonly kid?: string;
  /** Replaces parts of the header. */
  readonly header?: Partial<JWTHeaderParameters>;
}

/** Answers a path otherwise than usual. */
export type Misbehaviour = (response: ServerResponse) => void;

export interface IdentityProvider {
  readonly url: string;
  readonly jwksUri: string;
  readonly discoveryUri: string;
  /** What it signs as, as an OpenID provider. */
  readonly issuer: string;
  /** What it signs as, as a `did:web`. */
  readonly did: string;
  /** How often a path was asked for. */
  asked(path: string): number;
  /** Makes a key and publishes it. */
  addKey(kid: string): Promise<void>;
  /** Takes a key out of what is published; proofs can still be signed with it. */
  retract(kid: string): void;
  /** The published set, as a file would hold it. */
  keySet(): { keys: JWK[] };
  /** A proof with these claims, besides `iss`, `iat` and an `exp` in five minutes; undefined leaves one out. */
  sign(claims: Readonly<Record<string, unknown>>, options?: ProofOptions): Promise<string>;
  /** Answers the path with this from now on; null for the usual again. */
  misbehave(path: string, how: Misbehaviour | null): void;
  /** Replaces the DID document. */
  publishDid(change: (document: Record<string, unknown>) => unknown): void;
  /** Nobody answers on its port any more. */
  stop(): Promise<void>;
  /** It is back, on the same port. */
  start(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export const JWKS_PATH = "/keys";
export const DISCOVERY_PATH = "/.well-known/openid-configuration";
export const DID_PATH = "/.well-known/did.json";

export async function startIdentityProvider(): Promise<IdentityProvider> {
  const keys = new Map<string, Key>();
  const published = new Set<string>();
  const counts = new Map<string, number>();
  const misbehaviours = new Map<string, Misbehaviour>();
  let didDocument: (document: Record<string, unknown>) => unknown = (document) => document;
  let url = "";
  let did = "";

  const keySet = () => ({ keys: [...keys].flatMap(([kid, { jwk }]) => (published.has(kid) ? [jwk] : [])) });
  const documents: Record<string, () => unknown> = {
    [JWKS_PATH]: keySet,
    [DISCOVERY_PATH]: () => ({ issuer: url, jwks_uri: `${url}${JWKS_PATH}` }),
    [DID_PATH]: () =>
      didDocument({
        id: did,
        verificationMethod: keySet().keys.map((jwk) => ({
          id: `${did}#${jwk.kid}`,
          type: "JsonWebKey",
          controller: did,
          publicKeyJwk: jwk,
        })),
        assertionMethod: keySet().keys.map((jwk) => `#${jwk.kid}`),
      }),
  };
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    counts.set(path, (counts.get(path) ?? 0) + 1);
    const misbehave = misbehaviours.get(path);
    if (misbehave !== undefined) return misbehave(response);
    const document = documents[path];
    if (document === undefined) return void response.writeHead(404).end();
    response.setHeader("content-type", "application/json; charset=utf-8");
    response.end(JSON.stringify(document()));
  });
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", resolve);
    });
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  url = `http://127.0.0.1:${port}`;
  did = `did:web:127.0.0.1%3A${port}`;

  const provider: IdentityProvider = {
    url,
    jwksUri: `${url}${JWKS_PATH}`,
    discoveryUri: `${url}${DISCOVERY_PATH}`,
    issuer: url,
    did,
    asked: (path) => counts.get(path) ?? 0,
    async addKey(kid) {
      const { privateKey, publicKey } = await generateKeyPair(ALGORITHM, { extractable: true });
      keys.set(kid, {
        privateKey,
        jwk: { ...(await exportJWK(publicKey)), kid, alg: ALGORITHM, use: "sig" },
      });
      published.add(kid);
    },
    retract: (kid) => void published.delete(kid),
    keySet,
    async sign(claims, { kid = [...keys.keys()].at(-1) ?? "", header = {} } = {}) {
      const key = keys.get(kid);
      if (key === undefined) throw new Error(`There is no key ${kid}.`);
      const now = Math.floor(Date.now() / 1000);
      const payload: JWTPayload = { iss: url, iat: now, exp: now + 300, ...claims };
      return await new SignJWT(payload)
        .setProtectedHeader({ alg: ALGORITHM, kid, ...header })
        .sign(key.privateKey);
    },
    misbehave(path, how) {
      if (how === null) misbehaviours.delete(path);
      else misbehaviours.set(path, how);
    },
    publishDid(change) {
      didDocument = change;
    },
    stop,
    start: () => listen(port),
    [Symbol.asyncDispose]: stop,
  };
  await provider.addKey("first");
  return provider;
}
