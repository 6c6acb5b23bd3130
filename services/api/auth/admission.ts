/** What the gate found out about a request, and what a door makes of it. */
import type { Capability } from "../../contract/operation.ts";
import { type Access, FULL_ACCESS, isGranted } from "../../engine/access.ts";
import type { Caller } from "../../engine/engine.ts";
import type { Exchange } from "../http/exchange.ts";

export interface Admission {
  /** `open`: nobody is asked, and only this machine can reach the door. */
  readonly kind: "open" | "token" | "jwt";
  readonly access: Access;
  /** Names the credential in records and keys; null while the door is open. */
  readonly credential: string | null;
  /** Resolves once the credential opens nothing any more, or the signal is aborted: for what stays open long. */
  untilEnded(signal: AbortSignal): Promise<void>;
}

/** While nobody is asked. */
export const OPEN: Admission = Object.freeze({
  kind: "open",
  access: FULL_ACCESS,
  credential: null,
  untilEnded: (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    }),
});

type Identity = Pick<Caller, "session" | "client">;

/** The caller of an operation, for every door that is reached over HTTP. */
export function callerOf(
  exchange: Exchange,
  { access, credential }: Admission,
  { session, client }: Identity = { session: null, client: null },
): Caller {
  return {
    access,
    credential,
    session,
    client,
    requestId: exchange.id,
    get signal() {
      return exchange.signal;
    },
  };
}

/** A REST caller is who its credential says: `api:<token>`, or the agent that it is bound to. */
export interface RestActor {
  readonly id: string;
  readonly kind: "external";
}

export function restActor({ access, credential }: Admission): RestActor {
  const name = credential === null ? "local" : credential.replace(/^(token|jwt):/, "");
  return { id: access.agent ?? `api:${name}`, kind: "external" };
}

/** What was granted, in the order of the contract. */
export function grantedOf({ access }: Admission, capabilities: readonly Capability[]): Capability[] {
  return capabilities.filter((one) => isGranted(access, one));
}
