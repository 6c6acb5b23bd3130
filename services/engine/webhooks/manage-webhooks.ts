/** `create_webhook`, `list_webhooks`, `pause_webhook`, `delete_webhook`, `list_deliveries`, `replay_deliveries`, `discard_deliveries`. */
import { randomUUID } from "node:crypto";
import {
  type DeliveryRow,
  listDeliveryRows,
  settleDeadDeliveries,
} from "../../../db/stores/delivery-store.ts";
import { findTitles } from "../../../db/stores/item-store.ts";
import {
  deleteWebhookRow,
  insertWebhook,
  listWebhookRows,
  setPaused,
  type WebhookRow,
} from "../../../db/stores/webhook-store.ts";
import { fault, type MusterError } from "../../contract/errors.ts";
import type {
  DeleteWebhookInput,
  DeleteWebhookOutput,
  PauseWebhookInput,
} from "../../contract/operations/change-webhook.ts";
import type { CreateWebhookInput, CreateWebhookOutput } from "../../contract/operations/create-webhook.ts";
import type {
  ListDeliveriesInput,
  ListDeliveriesOutput,
  ListedDelivery,
} from "../../contract/operations/list-deliveries.ts";
import type { ListWebhooksOutput } from "../../contract/operations/list-webhooks.ts";
import type {
  SettleDeliveriesInput,
  SettleDeliveriesOutput,
} from "../../contract/operations/settle-deliveries.ts";
import type { ListedWebhook } from "../../contract/webhooks.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { requireItem } from "../resolve-items.ts";
import { isPublicAddress, literalAddress } from "./public-address.ts";
import { mintWebhookSecret, sealSecret } from "./sealed-secret.ts";

/** The topic of wake-ups for those who send: a delivery was brought back, or a webhook was made. */
export const WEBHOOKS_CHANGED = "webhooks";

export async function createWebhook(
  deps: EngineDeps,
  input: CreateWebhookInput,
  caller: Caller,
): Promise<CreateWebhookOutput> {
  const { secretKey, privateWebhooks } = deps.settings;
  requireEverything(caller);
  if (secretKey === null)
    throw fault("unavailable", NO_KEY, { hint: "Set MUSTER_SECRET_KEY, the same for all processes." });
  if (!privateWebhooks) refuseInward(new URL(input.url));
  const rootIds = input.rootIds === undefined ? null : await resolveAll(deps, caller, input.rootIds);
  const id = randomUUID();
  const secret = mintWebhookSecret();
  const row = await insertWebhook(deps.db, {
    id,
    url: input.url,
    sealedSecret: sealSecret(secret, secretKey, id),
    types: input.types ?? null,
    rootIds,
    scope: caller.access.scope,
    createdBy: input.actor?.id ?? caller.credential,
  });
  deps.coordination.wakeUps.publish([WEBHOOKS_CHANGED]);
  return { ...shown(row), secret };
}

const NO_KEY = "this server has no key to keep the secrets of webhooks with";

/** Who sees a part only would have to be cut off from the rest for as long as the webhook lives. */
function requireEverything({ access }: Caller): void {
  if (access.scope === null) return;
  throw fault("insufficient_capability", "webhooks are for credentials that see everything", {
    hint: "Use a credential without a scope; rootIds narrow what is sent.",
  });
}

function refuseInward(url: URL): void {
  const literal = literalAddress(url.hostname);
  const isInward =
    literal === null ? /(^|\.)(localhost|local|internal)$/i.test(url.hostname) : !isPublicAddress(literal);
  if (!isInward && url.protocol === "https:") return;
  const why = isInward ? "is private or local" : "is not https";
  throw fault("VALIDATION_ERROR", `url: the address ${why}`, {
    hint: "Use a public https address, or set MUSTER_WEBHOOKS_ALLOW_PRIVATE=true on the server.",
  });
}

async function resolveAll({ db }: EngineDeps, caller: Caller, refs: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const ref of refs) ids.push(await requireItem(db, ref, caller));
  const known = await findTitles(db, ids);
  const missing = ids.find((id) => !known.has(id));
  if (missing !== undefined) throw fault("RESOURCE_NOT_FOUND", `there is no item ${missing}`);
  return [...new Set(ids)];
}

export async function listWebhooks(
  { db }: EngineDeps,
  _input: object,
  caller: Caller,
): Promise<ListWebhooksOutput> {
  requireEverything(caller);
  const rows = await listWebhookRows(db);
  return { webhooks: rows.map((row) => ({ ...shown(row), pending: row.pending, dead: row.dead })) };
}

export async function pauseWebhook(
  deps: EngineDeps,
  { webhookId, paused }: PauseWebhookInput,
  caller: Caller,
): Promise<ListedWebhook> {
  requireEverything(caller);
  const row = await setPaused(deps.db, webhookId, paused);
  if (row === null) throw noSuchWebhook(webhookId);
  deps.coordination.wakeUps.publish([WEBHOOKS_CHANGED]);
  return shown(row);
}

export async function deleteWebhook(
  { db }: EngineDeps,
  { webhookId }: DeleteWebhookInput,
  caller: Caller,
): Promise<DeleteWebhookOutput> {
  requireEverything(caller);
  if (!(await deleteWebhookRow(db, webhookId))) throw noSuchWebhook(webhookId);
  return { webhookId, deleted: true };
}

export async function listDeliveries(
  { db }: EngineDeps,
  { webhookId, state, limit, offset }: ListDeliveriesInput,
  caller: Caller,
): Promise<ListDeliveriesOutput> {
  requireEverything(caller);
  const page = { webhookId: webhookId ?? null, state: state ?? null, limit: limit + 1, offset };
  const rows = await listDeliveryRows(db, page);
  return {
    deliveries: rows.slice(0, limit).map(listed),
    hasMore: rows.length > limit,
    limit,
    offset,
  };
}

export const replayDeliveries = (
  deps: EngineDeps,
  input: SettleDeliveriesInput,
  caller: Caller,
): Promise<SettleDeliveriesOutput> => settle(deps, input, caller, "pending");

export const discardDeliveries = (
  deps: EngineDeps,
  input: SettleDeliveriesInput,
  caller: Caller,
): Promise<SettleDeliveriesOutput> => settle(deps, input, caller, "discarded");

async function settle(
  deps: EngineDeps,
  { deliveryIds = [], webhookId }: SettleDeliveriesInput,
  caller: Caller,
  state: "pending" | "discarded",
): Promise<SettleDeliveriesOutput> {
  requireEverything(caller);
  const settled = await settleDeadDeliveries(
    deps.db,
    { ids: deliveryIds, webhookId: webhookId ?? null },
    state,
  );
  deps.coordination.wakeUps.publish([WEBHOOKS_CHANGED]);
  return { settled };
}

function noSuchWebhook(id: string): MusterError {
  return fault("not_found", `there is no webhook ${id}`, {
    hint: "List the webhooks to see which there are.",
  });
}

function shown(row: WebhookRow): ListedWebhook {
  return {
    webhookId: row.id,
    url: row.url,
    types: row.types,
    rootIds: row.root_ids,
    paused: row.paused,
    cursor: row.cursor,
    createdAt: row.created_at.toISOString(),
    createdBy: row.created_by,
  };
}

function listed(row: DeliveryRow): ListedDelivery {
  return {
    deliveryId: row.id,
    webhookId: row.webhook_id,
    eventId: String(row.seq),
    type: row.type,
    ...(row.item_id === null ? {} : { itemId: row.item_id }),
    state: row.state,
    tries: row.tries,
    ...(row.last_status === null ? {} : { lastStatus: row.last_status }),
    ...(row.last_reason === null ? {} : { lastReason: row.last_reason }),
    ...(row.last_tried_at === null ? {} : { lastTriedAt: row.last_tried_at.toISOString() }),
    ...(row.state === "pending" ? { nextAt: row.next_at.toISOString() } : {}),
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at.toISOString() }),
    createdAt: row.created_at.toISOString(),
  };
}
