/**
 * The one gate in front of every door: MCP, REST, event streams.
 *
 *   address limit -> credential -> limit of the credential -> admitted
 *
 * It stands before the body is read: who may not call does not get to send four megabytes.
 * A refusal is an error of the table with what belongs into its headers; how it is written down
 * is the business of the door. A fault while checking is 503 and never 401.
 */
import { fault, isMusterError, type MusterError } from "../../contract/errors.ts";
import type { Counters } from "../../coordination/port.ts";
import type { Credentials } from "../../engine/tokens/credentials.ts";
import type { Exchange } from "../http/exchange.ts";
import { type Admission, OPEN } from "./admission.ts";
import { addressOf } from "./caller-address.ts";
import type { Challenges } from "./challenge.ts";
import { createRateLimit, type RateLimit } from "./rate-limit.ts";

export interface GateOptions {
  readonly mode: "off" | "token" | "jwt";
  /** What judges credentials; only `off` does without. */
  readonly credentials: Credentials | null;
  /** Shared by all replicas; without them nothing is limited. */
  readonly counters: Counters | null;
  readonly limits: GateLimits;
  /** How many proxies of ours stand before this server. */
  readonly trustedProxies: number;
  readonly challenges: Challenges;
  /** Told of refusals of a credential that is known. */
  readonly onRefused: (refused: RefusedCall) => void;
}

export interface GateLimits {
  /** Calls in a minute; null: as many as come. */
  readonly perCredential: number | null;
  readonly perAddress: number | null;
}

export interface RefusedCall {
  readonly credential: string;
  readonly requestId: string;
  readonly error: MusterError;
}

/** The request goes no further. */
export interface GateRefusal {
  readonly error: MusterError;
  readonly headers: Readonly<Record<string, string>>;
}

export type Gate = (exchange: Exchange) => Promise<Admission | GateRefusal>;

/** Attempts with something that opens nothing, in a minute from one address: guessing has to be slow. */
const FAILURES_PER_MINUTE = 120;
const BEARER = /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

export function createGate(options: GateOptions): Gate {
  const { mode, credentials, counters, challenges, limits } = options;
  const limit = (name: string, perMinute: number | null): RateLimit | null =>
    counters === null || perMinute === null ? null : createRateLimit({ counters, name, perMinute });
  const perAddress = limit("address", limits.perAddress);
  const perCredential = limit("credential", limits.perCredential);
  const failures = limit("failures", FAILURES_PER_MINUTE);

  async function admit(exchange: Exchange): Promise<Admission | GateRefusal> {
    const address = addressOf(exchange, options.trustedProxies);
    const crowded = await perAddress?.take(address);
    if (crowded) return limited(crowded.waitMs, "this address");
    if (mode === "off" || credentials === null) return OPEN;

    const header = exchange.header("authorization");
    if (header === undefined)
      return unauthenticated("no credential came with the request", challenges.missing(exchange.path));
    const text = BEARER.exec(header)?.[1];
    const fail = async (error: "invalid_request" | "invalid_token", reason: string): Promise<GateRefusal> => {
      const guessing = await failures?.take(address);
      if (guessing) return limited(guessing.waitMs, "this address");
      return unauthenticated(
        `the credential is refused: ${reason}`,
        challenges.invalid(exchange.path, error, reason),
      );
    };
    if (text === undefined) return await fail("invalid_request", "it is not a bearer token");
    const finding = await credentials.check(text);
    if (finding.status === "refused") return await fail("invalid_token", finding.reason);
    const { kind, access, credential } = finding;
    const tooMany = await perCredential?.take(credential);
    if (tooMany) {
      const refusal = limited(tooMany.waitMs, "this credential");
      // One record per window: a flood must not become a flood of rows.
      if (tooMany.first) options.onRefused({ credential, requestId: exchange.id, error: refusal.error });
      return refusal;
    }
    return { kind, access, credential, untilEnded: (signal) => credentials.untilEnded(text, signal) };
  }

  return async (exchange) => {
    try {
      return await admit(exchange);
    } catch (error) {
      if (isMusterError(error)) return { error, headers: retryAfter(error.retryAfterMs ?? 1_000) };
      throw error;
    }
  };
}

export function isRefusal(found: Admission | GateRefusal): found is GateRefusal {
  return "error" in found;
}

function unauthenticated(message: string, challenge: string): GateRefusal {
  return { error: fault("unauthenticated", message), headers: { "www-authenticate": challenge } };
}

function limited(waitMs: number, who: string): GateRefusal {
  const error = fault("rate_limited", `${who} has made as many calls as it may in a minute`, {
    retryAfterMs: waitMs,
  });
  return { error, headers: retryAfter(waitMs) };
}

function retryAfter(ms: number): Readonly<Record<string, string>> {
  return { "retry-after": String(Math.max(1, Math.ceil(ms / 1000))) };
}
