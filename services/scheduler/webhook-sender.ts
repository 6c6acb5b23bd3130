/**
 * Sends one delivery, and says what came of it. The address is judged at the moment of
 * connecting, by what the name resolves to then: a name that resolves to something else a
 * moment later gets nowhere. So is every address that it is sent on to.
 */
import { lookup, type LookupAddress } from "node:dns";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import type { SendResult } from "../core/webhooks/judge-delivery.ts";
import { isPublicAddress, literalAddress } from "../engine/webhooks/public-address.ts";

export interface Outgoing {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface SenderOptions {
  /** True sends inwards too: for a network of one's own. */
  readonly allowPrivate: boolean;
  /** For everything of a try, redirects included. Default 10 s. */
  readonly timeoutMs?: number;
}

export type SendFunc = (outgoing: Outgoing, signal: AbortSignal) => Promise<SendResult>;

const TIMEOUT_MS = 10_000;
const REDIRECTS_MAX = 3;
/** With these the same request is to be made elsewhere. */
const REDIRECTS = new Set([301, 302, 307, 308]);
/** Nobody reads what a receiver says; that it says so much is no reason to hold a connection. */
const ANSWER_SIZE_MAX_BYTES = 64 * 1024;

class Forbidden extends Error {}

export function createWebhookSender({ allowPrivate, timeoutMs = TIMEOUT_MS }: SenderOptions): SendFunc {
  const send = (target: URL, outgoing: Outgoing, signal: AbortSignal): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      judgeUrl(target, allowPrivate);
      const make = target.protocol === "https:" ? httpsRequest : httpRequest;
      const request = make(target, {
        method: "POST",
        headers: { ...outgoing.headers, "content-length": Buffer.byteLength(outgoing.body) },
        lookup: allowPrivate ? undefined : lookupPublic,
        agent: false,
        signal,
      });
      request.once("response", resolve);
      request.once("error", reject);
      request.end(outgoing.body);
    });

  return async (outgoing, stopping) => {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs)]);
    try {
      let target = new URL(outgoing.url);
      for (let hops = 0; ; hops += 1) {
        const response = await send(target, outgoing, signal);
        const status = response.statusCode ?? 0;
        const { location } = response.headers;
        await finish(response, signal);
        if (!REDIRECTS.has(status) || location === undefined) return answered(status, response);
        if (hops === REDIRECTS_MAX) return { kind: "unreachable", reason: "sent on too often" };
        if (!URL.canParse(location, target.href))
          return { kind: "unreachable", reason: "sent on to no address" };
        target = new URL(location, target);
      }
    } catch (error) {
      if (error instanceof Forbidden) return { kind: "forbidden", reason: error.message };
      return { kind: "unreachable", reason: reasonOf(error, signal, timeoutMs) };
    }
  };
}

function judgeUrl(target: URL, allowPrivate: boolean): void {
  if (target.protocol !== "https:" && target.protocol !== "http:")
    throw new Forbidden(`${target.protocol.slice(0, -1)} is not sent to`);
  const literal = literalAddress(target.hostname);
  if (!allowPrivate && literal !== null && !isPublicAddress(literal)) throw new Forbidden(PRIVATE);
}

const PRIVATE = "the address is private or local";

const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error !== null) return callback(error, "", 0);
    const [first] = addresses;
    // One that is private among others is enough: which of them is taken is not for us to say.
    const refused = first === undefined || addresses.some(({ address }) => !isPublicAddress(address));
    if (refused) return callback(new Forbidden(PRIVATE), "", 0);
    if (options.all === true) return callback(null, addresses);
    callback(null, first.address, first.family);
  });
};

async function finish(response: IncomingMessage, signal: AbortSignal): Promise<void> {
  let size = 0;
  try {
    for await (const chunk of response) {
      size += (chunk as Buffer).length;
      if (size > ANSWER_SIZE_MAX_BYTES || signal.aborted) break;
    }
  } catch {
    // It has answered with a status; the rest of what it had to say is not needed.
  } finally {
    response.destroy();
  }
}

function answered(status: number, { headers }: IncomingMessage): SendResult {
  const seconds = Number(headers["retry-after"]);
  const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : null;
  return { kind: "answered", status, retryAfterMs };
}

/** In words that an operator may read; a driver's message can hold addresses of the inside. */
function reasonOf(error: unknown, signal: AbortSignal, timeoutMs: number): string {
  if (signal.aborted) return `no answer within ${timeoutMs} ms`;
  const code: unknown = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? `could not be reached (${code})` : "could not be reached";
}
