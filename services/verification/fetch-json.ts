/**
 * Fetches a small JSON document from an address that may be slow, hostile or not what it
 * seems: bounded in time and size, no redirects, and on request no private addresses. The
 * check is made on the very address that is connected to, so that a name which resolves to
 * another one a moment later gains nothing.
 */
import { lookup as resolve } from "node:dns";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { KeysUnavailable } from "./keys-unavailable.ts";
import { isPrivateAddress } from "./private-address.ts";

const TIMEOUT_MS = 5_000;
const BYTES_MAX = 1024 * 1024;

export interface FetchOptions {
  /** False for addresses that a caller had a say in. */
  readonly mayBePrivate: boolean;
}

/** @throws KeysUnavailable */
export async function fetchJson(url: URL, options: FetchOptions): Promise<unknown> {
  try {
    const text = await read(await open(url, options));
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof KeysUnavailable) throw error;
    if (error instanceof SyntaxError) throw new KeysUnavailable("the source of the keys sends no valid JSON");
    throw new KeysUnavailable("the source of the keys cannot be reached", error);
  }
}

function open(url: URL, { mayBePrivate }: FetchOptions): Promise<IncomingMessage> {
  const literal = url.hostname.replace(/^\[|\]$/g, "");
  if (!mayBePrivate && isIP(literal) !== 0 && isPrivateAddress(literal)) {
    throw new KeysUnavailable("the source of the keys has a private address");
  }
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((fulfil, reject) => {
    const request = send(url, {
      headers: { accept: "application/json, application/jwk-set+json, application/did+json" },
      agent: false,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(mayBePrivate ? {} : { lookup: lookupPublic }),
    });
    request.once("response", fulfil);
    request.once("error", reject);
    request.end();
  });
}

const lookupPublic: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, []);
    if (addresses.some(({ address }) => isPrivateAddress(address))) {
      return callback(new KeysUnavailable("the source of the keys has a private address"), []);
    }
    const [first] = addresses;
    if (options.all === true || first === undefined) return callback(null, addresses);
    return callback(null, first.address, first.family);
  });
};

async function read(response: IncomingMessage): Promise<string> {
  try {
    const { statusCode = 0, headers } = response;
    // A redirect is an answer like any other that is not the document: where it leads, nobody vouched for.
    if (statusCode !== 200) throw new KeysUnavailable(`the source of the keys answers ${statusCode}`);
    if (!isJson(headers["content-type"])) throw new KeysUnavailable("the source of the keys sends no JSON");
    if (Number(headers["content-length"] ?? 0) > BYTES_MAX) throw tooLarge();
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > BYTES_MAX) throw tooLarge();
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString("utf8");
  } finally {
    response.destroy();
  }
}

function tooLarge(): KeysUnavailable {
  return new KeysUnavailable("the source of the keys sends more than 1 MiB");
}

function isJson(contentType: string | undefined): boolean {
  return /^application\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType ?? "");
}
