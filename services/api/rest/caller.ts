/** Who a REST request comes from. */
import { FULL_ACCESS, type Access } from "../../engine/access.ts";
import type { Caller } from "../../engine/engine.ts";
import type { Exchange } from "../http/exchange.ts";
import type { RestActor } from "./route.ts";

/** The caller of a request, while the door is open to this machine's user. */
export function callerOf(exchange: Exchange): Caller {
  return {
    access: FULL_ACCESS,
    credential: null,
    session: null,
    client: null,
    requestId: exchange.id,
    get signal() {
      return exchange.signal;
    },
  };
}

/** What a write is attributed to: an agent that the credential is pinned to, else the credential itself. */
export function actorOf({ access, credential }: Caller): RestActor {
  return { id: access.agent ?? `api:${credential ?? "local"}`, kind: "external" };
}

/** A write answers what it made: that much may be read with the right to write it. */
export function withRead(access: Access): Access {
  return access.capabilities.has("read")
    ? access
    : { ...access, capabilities: new Set([...access.capabilities, "read"]) };
}
