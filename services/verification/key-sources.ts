/** Where key sets come from: an address, a file, or the address that an OpenID provider tells. */
import { readFile, stat } from "node:fs/promises";
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import { fetchJson } from "./fetch-json.ts";
import { KeysUnavailable } from "./keys-unavailable.ts";
import { isLoopbackHost } from "./private-address.ts";

const FILE_BYTES_MAX = 1024 * 1024;

/** A key set, ready to be searched. */
export interface KeySet {
  readonly find: JWTVerifyGetKey;
  /** Who signs with these keys, where the source says so. */
  readonly issuer: string | null;
}

export type LoadKeys = () => Promise<KeySet>;

/** Keys at an address that the operator chose. */
export function keysFromUri(uri: string): LoadKeys {
  const url = new URL(uri);
  return async () => toKeySet(await fetchJson(url, { mayBePrivate: true }), null);
}

/** Keys in a file; read again when they are past their time, so that replacing it needs no restart. */
export function keysFromFile(path: string): LoadKeys {
  return async () => {
    try {
      const { size } = await stat(path);
      if (size > FILE_BYTES_MAX) throw new KeysUnavailable("the file of the keys is larger than 1 MiB");
      return toKeySet(JSON.parse(await readFile(path, "utf8")) as unknown, null);
    } catch (error) {
      if (error instanceof KeysUnavailable) throw error;
      throw new KeysUnavailable("the file of the keys cannot be read", error);
    }
  };
}

/** Keys of an OpenID provider: its document says where they are, and who signs with them. */
export function keysFromDiscovery(uri: string, insecure: boolean): LoadKeys {
  const url = new URL(uri);
  return async () => {
    const document = await fetchJson(url, { mayBePrivate: true });
    const { issuer, jwks_uri: keysUri } = (document ?? {}) as { issuer?: unknown; jwks_uri?: unknown };
    const keysUrl = typeof keysUri === "string" ? URL.parse(keysUri) : null;
    if (typeof issuer !== "string" || keysUrl === null) {
      throw new KeysUnavailable("the provider's document names no issuer or no keys");
    }
    if (!isSafe(keysUrl, insecure) || (isLoopbackHost(keysUrl.hostname) && !isLoopbackHost(url.hostname))) {
      throw new KeysUnavailable("the provider's document names keys at an address that is not safe");
    }
    return toKeySet(await fetchJson(keysUrl, { mayBePrivate: true }), issuer);
  };
}

/** Nobody on the way can have changed what comes from there. */
function isSafe(url: URL, insecure: boolean): boolean {
  if (url.protocol === "https:") return true;
  return url.protocol === "http:" && (insecure || isLoopbackHost(url.hostname));
}

function toKeySet(document: unknown, issuer: string | null): KeySet {
  try {
    return { find: createLocalJWKSet(document as JSONWebKeySet), issuer };
  } catch (error) {
    throw new KeysUnavailable("the source of the keys sends no key set", error);
  }
}
