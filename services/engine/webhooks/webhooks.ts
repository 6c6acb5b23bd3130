/**
 * Events by HTTP, at least once, in the order of each item:
 *
 *   outbox ──fanOut──▶ a delivery per webhook that wants it ──take──▶ sender ──settle──▶ delivered
 *     (with the webhook's cursor, in one transaction)  ▲                        │
 *                                                      └── later, or dead ◀─────┘
 *
 * Any number of schedulers may do this at once: rows are taken, and what was taken by one that
 * died is taken again when its time is over. Then a receiver may see a delivery twice, under the
 * same id. Sending happens outside of every transaction.
 */
import { endTry, takeDue } from "../../../db/stores/delivery-store.ts";
import { findEvents } from "../../../db/stores/event-store.ts";
import { fanOut, lowestCursor, type NewDelivery, takeBehind } from "../../../db/stores/webhook-store.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { isEventType } from "../../contract/events.ts";
import { judgeDelivery, type SendResult } from "../../core/webhooks/judge-delivery.ts";
import type { EngineDeps } from "../deps.ts";
import { EventReader } from "../events/event-reader.ts";
import { createEventView } from "../events/event-view.ts";
import { openSecret } from "./sealed-secret.ts";
import { sign } from "./sign.ts";

export interface DueDelivery {
  readonly id: string;
  readonly tries: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Webhooks {
  /** Makes deliveries of what has happened. True: there is more. */
  fanOut(): Promise<boolean>;
  /** What is due, signed for now and taken for the time of a try. */
  take(): Promise<readonly DueDelivery[]>;
  settle(delivery: DueDelivery, result: SendResult): Promise<void>;
}

const PAGE = 500;
const AT_ONCE = 16;
/** Longer than a try may take: nobody else takes what is still being sent. */
const TAKEN_MS = 60_000;

export function createWebhooks(deps: Pick<EngineDeps, "db" | "settings" | "random">): Webhooks {
  let reader: EventReader | null = null;

  /** How far everything is known to have happened. */
  async function horizon(): Promise<number | null> {
    const lowest = await lowestCursor(deps.db);
    if (lowest === null) return null;
    reader ??= new EventReader(deps.db, lowest);
    for (;;) {
      const { next } = await reader.read();
      if (next !== "more") return reader.position;
    }
  }

  return {
    async fanOut() {
      const position = await horizon();
      if (position === null) return false;
      return await fanOutOnce(deps, position);
    },
    async take() {
      const { secretKey } = deps.settings;
      if (secretKey === null) return [];
      const rows = await takeDue(deps.db, AT_ONCE, TAKEN_MS);
      return rows.map(({ id, webhook_id, url, sealed_secret, body, tries }) => ({
        id,
        tries,
        url,
        body,
        headers: {
          "content-type": "application/json",
          "user-agent": "Muster",
          ...sign(openSecret(sealed_secret, secretKey, webhook_id), id, body, Date.now()),
        },
      }));
    },
    async settle({ id, tries }, result) {
      const verdict = judgeDelivery(result, tries, deps.random());
      await endTry(deps.db, {
        id,
        tries,
        state: verdict.kind === "retry" ? "pending" : verdict.kind,
        afterMs: verdict.kind === "retry" ? verdict.afterMs : 0,
        status: result.kind === "answered" ? result.status : null,
        reason: verdict.kind === "delivered" ? null : verdict.reason,
      });
    },
  };
}

/** One page for the webhook that is furthest behind. */
async function fanOutOnce({ db }: Pick<EngineDeps, "db">, position: number): Promise<boolean> {
  return await inTransaction(db, async (tx) => {
    const webhook = await takeBehind(tx, position);
    if (webhook === null) return false;
    const events = await findEvents(tx, { after: webhook.cursor, upTo: position, limit: PAGE });
    const view = createEventView({
      scope: webhook.scope,
      roots: webhook.root_ids,
      types: webhook.types === null ? null : new Set(webhook.types.filter(isEventType)),
    });
    const deliveries = events.flatMap((event): NewDelivery[] => {
      const shown = view(event);
      if (shown === null) return [];
      const { event: type, modifiedAt, ...data } = shown;
      const body = JSON.stringify({ type, timestamp: modifiedAt, data });
      return [{ seq: event.seq, itemId: event.itemId, type, body }];
    });
    const cursor = events.length === PAGE ? (events.at(-1)?.seq ?? position) : position;
    await fanOut(tx, webhook.id, deliveries, cursor);
    return true;
  });
}
