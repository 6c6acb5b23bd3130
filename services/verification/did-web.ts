/**
 * `did:web` identifiers: which are trusted, where their documents are, and which keys of a
 * document count. A document is only ever believed about itself.
 */
import type { JWK } from "jose";

/** Whether an identifier is one of those the operator trusts. `*` in the pattern stands for one part. */
export function isTrustedDid(
  did: string,
  { allowlist, pattern }: { readonly allowlist: readonly string[]; readonly pattern: string | null },
): boolean {
  if (allowlist.includes(did)) return true;
  if (pattern === null) return false;
  const wanted = pattern.split(":");
  const parts = did.split(":");
  return (
    parts.length === wanted.length &&
    wanted.every((part, index) => (part === "*" ? parts[index] !== "" : part === parts[index]))
  );
}

/**
 * The address of a document: `did:web:host` is at `/.well-known/did.json`, `did:web:host:a:b` at
 * `/a/b/did.json`. Null for what is no identifier, or would lead anywhere but there.
 */
export function documentUrl(did: string, scheme: "https" | "http"): URL | null {
  const [, , host, ...path] = did.split(":");
  if (!did.startsWith("did:web:") || host === undefined) return null;
  const parts = [host, ...path].map(decodePart);
  const [authority, ...folders] = parts;
  if (authority === undefined || authority === null || !/^[A-Za-z0-9.-]+(:\d{1,5})?$/.test(authority))
    return null;
  if (folders.some((part) => part === null || !/^[\w.~-]+$/.test(part) || /^\.+$/.test(part))) return null;
  const where = folders.length === 0 ? ".well-known" : folders.join("/");
  return URL.parse(`${scheme}://${authority}/${where}/did.json`);
}

function decodePart(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

/** A key of a document, under its full name `did:web:…#…`. */
export interface DidKey {
  readonly id: string;
  readonly jwk: JWK;
}

/**
 * The keys of a document that may sign for its subject: those it lists for assertions, or with
 * `strict` off any of its verification methods. Null if the document is not about this DID.
 */
export function keysOfDocument(document: unknown, did: string, strict: boolean): DidKey[] | null {
  if (!isRecord(document) || document["id"] !== did) return null;
  const methods = listOf(document["verificationMethod"]);
  if (!strict) return methods.flatMap((method) => keyOf(method, did));
  const relations = listOf(document["assertionMethod"]);
  const named = new Set(relations.flatMap((one) => (typeof one === "string" ? [fullId(one, did)] : [])));
  const embedded = relations.filter(isRecord);
  return [
    ...methods.flatMap((method) => keyOf(method, did)).filter((key) => named.has(key.id)),
    ...embedded.flatMap((method) => keyOf(method, did)),
  ];
}

/** Those of the keys that a header's `kid` may mean. With `loose`, the only key is meant whatever it says. */
export function keysNamed(
  keys: readonly DidKey[],
  kid: string | undefined,
  did: string,
  loose: boolean,
): readonly DidKey[] {
  if (kid === undefined || (loose && keys.length === 1)) return keys;
  const id = fullId(kid.includes("#") || kid.startsWith("did:") ? kid : `#${kid}`, did);
  return keys.filter((key) => key.id === id || key.jwk.kid === kid);
}

function keyOf(method: unknown, did: string): DidKey[] {
  if (!isRecord(method) || typeof method["id"] !== "string" || !isRecord(method["publicKeyJwk"])) return [];
  // A method that another subject controls speaks for that one.
  if (method["controller"] !== undefined && method["controller"] !== did) return [];
  return [{ id: fullId(method["id"], did), jwk: method["publicKeyJwk"] }];
}

function fullId(id: string, did: string): string {
  return id.startsWith("#") ? `${did}${id}` : id;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
