/**
 * `subscriptions/listen`: who wants to hear of items is asked as for reading each of them, and let go
 * when the credential ends or the process drains. The SDK would pass on whatever is published.
 */
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { Caller, Engine } from "../../engine/engine.ts";
import type { Admission } from "../auth/admission.ts";
import type { Exchange } from "../http/exchange.ts";
import { sendJson } from "../http/reply.ts";
import type { ItemEventBus } from "./item-event-bus.ts";
import { readItemResource } from "./item-resources.ts";

/** Addresses of one stream: each event is looked up in each of them. */
const LISTENED_MAX = 100;

/** The addresses that a request wants to listen to; null if it is no such request, or names none: then there is nothing to come. */
export function listenedUris(body: unknown): readonly unknown[] | null {
  const { method, params } = (body ?? {}) as {
    readonly method?: unknown;
    readonly params?: { readonly notifications?: { readonly resourceSubscriptions?: unknown } };
  };
  if (method !== "subscriptions/listen") return null;
  const uris = params?.notifications?.resourceSubscriptions;
  return Array.isArray(uris) && uris.length > 0 ? (uris as readonly unknown[]) : null;
}

/** @throws ProtocolError if one of the addresses may not be read, or there are too many. */
async function admitListener(
  engine: Pick<Engine, "execute">,
  uris: readonly unknown[],
  caller: Caller,
): Promise<void> {
  if (uris.length > LISTENED_MAX)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `One stream listens to ${LISTENED_MAX} resources at most. Open another for the rest, or follow events.`,
    );
  for (const uri of uris) await readItemResource(engine, typeof uri === "string" ? uri : "", caller);
}

interface Listening {
  readonly uris: readonly unknown[];
  readonly body: unknown;
  readonly caller: Caller;
  readonly admission: Pick<Admission, "untilEnded">;
  readonly draining: AbortSignal;
}

/** Lets `answer` serve the stream, for as long as its caller may listen. */
export async function listenToItems(
  exchange: Exchange,
  engine: Pick<Engine, "execute">,
  bus: ItemEventBus,
  { uris, body, caller, admission, draining }: Listening,
  answer: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  try {
    await admitListener(engine, uris, caller);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    const { code, message } = error;
    const { id = null } = body as { readonly id?: unknown };
    const text = JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });
    return sendJson(exchange.response, 200, text, { "x-request-id": exchange.id });
  }
  const over = new AbortController();
  const end = AbortSignal.any([exchange.signal, draining, over.signal]);
  const expired = admission.untilEnded(end).then(() => over.abort());
  try {
    await bus.whileFollowing(() => answer(end));
  } finally {
    over.abort();
    await expired;
  }
}
