/** Webhooks and what was made of the outbox for them. */
import { type Handle, statement } from "../statement.ts";

export interface WebhookRow {
  readonly id: string;
  readonly url: string;
  readonly sealed_secret: Buffer;
  readonly types: string[] | null;
  readonly root_ids: string[] | null;
  readonly scope: string[] | null;
  readonly cursor: number;
  readonly paused: boolean;
  readonly created_at: Date;
  readonly created_by: string | null;
}

const columns =
  "w.id, w.url, w.sealed_secret, w.types, w.root_ids, w.scope, w.cursor, w.paused, w.created_at, w.created_by";

const insert = statement<WebhookRow>(
  "webhook_insert",
  `insert into webhooks as w (id, url, sealed_secret, types, root_ids, scope, cursor, created_by)
   values ($1, $2, $3::bytea, $4::text[], $5::uuid[], $6::uuid[],
     coalesce((select max(seq) from events), 0), $7)
   returning ${columns}`,
);

export interface NewWebhook {
  readonly id: string;
  readonly url: string;
  readonly sealedSecret: Buffer;
  readonly types: readonly string[] | null;
  readonly rootIds: readonly string[] | null;
  readonly scope: readonly string[] | null;
  readonly createdBy: string | null;
}

/** It is told of what happens from now on. */
export async function insertWebhook(handle: Handle, one: NewWebhook): Promise<WebhookRow> {
  const { id, url, sealedSecret, types, rootIds, scope, createdBy } = one;
  const [row] = await insert(handle, [id, url, sealedSecret, types, rootIds, scope, createdBy]);
  if (row === undefined) throw new Error("the webhook was not stored");
  return row;
}

export interface ListedWebhookRow extends WebhookRow {
  readonly pending: number;
  readonly dead: number;
}

const list = statement<ListedWebhookRow>(
  "webhook_list",
  `select ${columns},
     (select count(*)::int from deliveries d where d.webhook_id = w.id and d.state = 'pending') as pending,
     (select count(*)::int from deliveries d where d.webhook_id = w.id and d.state = 'dead') as dead
   from webhooks w order by w.created_at, w.id`,
);

export async function listWebhookRows(handle: Handle): Promise<ListedWebhookRow[]> {
  return await list(handle, []);
}

const pause = statement<WebhookRow>(
  "webhook_pause",
  `update webhooks w set paused = $2 where w.id = $1 returning ${columns}`,
);

export async function setPaused(handle: Handle, id: string, paused: boolean): Promise<WebhookRow | null> {
  return (await pause(handle, [id, paused]))[0] ?? null;
}

const remove = statement<{ id: string }>("webhook_delete", `delete from webhooks where id = $1 returning id`);

export async function deleteWebhookRow(handle: Handle, id: string): Promise<boolean> {
  return (await remove(handle, [id])).length > 0;
}

// Taken by one at a time: two that fan out at once would read the same events twice.
const behind = statement<WebhookRow>(
  "webhook_behind",
  `select ${columns} from webhooks w where not w.paused and w.cursor < $1::int8
   order by w.cursor, w.id limit 1 for update skip locked`,
);

/** A webhook that was not told of everything up to a number, locked; null if there is none that is free. */
export async function takeBehind(handle: Handle, position: number): Promise<WebhookRow | null> {
  return (await behind(handle, [position]))[0] ?? null;
}

const lowest = statement<{ cursor: number | null }>(
  "webhook_lowest",
  `select min(cursor) as cursor from webhooks where not paused`,
);

/** The number behind which somebody has still to be told; null without webhooks. */
export async function lowestCursor(handle: Handle): Promise<number | null> {
  return (await lowest(handle, []))[0]?.cursor ?? null;
}

export interface NewDelivery {
  readonly seq: number;
  readonly itemId: string | null;
  readonly type: string;
  readonly body: string;
}

const deliver = statement<never>(
  "webhook_fan_out",
  `with made as (
     insert into deliveries (webhook_id, seq, item_id, type, body)
     select $1, d.seq, d.item_id, d.type, d.body
     from jsonb_to_recordset($2::jsonb) as d(seq int8, item_id uuid, type text, body text)
     on conflict (webhook_id, seq) do nothing)
   update webhooks set cursor = $3::int8 where id = $1 and cursor < $3::int8`,
);

/** Makes its deliveries and moves its cursor past them. */
export async function fanOut(
  handle: Handle,
  webhookId: string,
  deliveries: readonly NewDelivery[],
  cursor: number,
): Promise<void> {
  const rows = deliveries.map(({ seq, itemId, type, body }) => ({ seq, item_id: itemId, type, body }));
  await deliver(handle, [webhookId, JSON.stringify(rows), cursor]);
}
