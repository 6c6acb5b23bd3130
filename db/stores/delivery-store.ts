/** Deliveries: taken by one sender at a time, ended by what came of it. */
import { type Handle, statement } from "../statement.ts";

export type DeliveryState = "pending" | "delivered" | "dead" | "discarded";

export interface TakenRow {
  readonly id: string;
  readonly webhook_id: string;
  readonly url: string;
  readonly sealed_secret: Buffer;
  readonly body: string;
  readonly tries: number;
}

// In the order of each item: a later one waits for an earlier one that is not over, whatever became of it.
const take = statement<TakenRow>(
  "delivery_take",
  `update deliveries d set taken_until = muster_now() + $2::float8 * interval '1 millisecond', tries = d.tries + 1
   from webhooks w, (
     select p.id from deliveries p join webhooks pw on pw.id = p.webhook_id
     where p.state = 'pending' and p.next_at <= muster_now() and not pw.paused
       and (p.taken_until is null or p.taken_until <= muster_now())
       and not exists (select 1 from deliveries e
         where e.webhook_id = p.webhook_id and e.item_id is not distinct from p.item_id and e.seq < p.seq
           and e.state in ('pending', 'dead'))
     order by p.next_at, p.seq limit $1 for update of p skip locked) due
   where d.id = due.id and w.id = d.webhook_id
   returning d.id, d.webhook_id, w.url, w.sealed_secret, d.body, d.tries`,
);

/** Due deliveries, each its sender's for `forMs`. */
export async function takeDue(handle: Handle, max: number, forMs: number): Promise<TakenRow[]> {
  return await take(handle, [max, forMs]);
}

const end = statement<never>(
  "delivery_end",
  `update deliveries set state = $3, next_at = muster_now() + $4::float8 * interval '1 millisecond', taken_until = null,
     last_status = $5, last_reason = $6, last_tried_at = muster_now(),
     ended_at = case when $3 in ('delivered', 'dead') then muster_now() end
   where id = $1 and tries = $2 and state = 'pending'`,
);

export interface TryEnd {
  readonly id: string;
  /** As taken: a sender that comes back after another took its place changes nothing. */
  readonly tries: number;
  readonly state: "pending" | "delivered" | "dead";
  readonly afterMs: number;
  readonly status: number | null;
  readonly reason: string | null;
}

export async function endTry(handle: Handle, one: TryEnd): Promise<void> {
  await end(handle, [one.id, one.tries, one.state, one.afterMs, one.status, one.reason]);
}

export interface DeliveryRow {
  readonly id: string;
  readonly webhook_id: string;
  readonly seq: number;
  readonly item_id: string | null;
  readonly type: string;
  readonly state: DeliveryState;
  readonly tries: number;
  readonly next_at: Date;
  readonly last_status: number | null;
  readonly last_reason: string | null;
  readonly last_tried_at: Date | null;
  readonly ended_at: Date | null;
  readonly created_at: Date;
}

const list = statement<DeliveryRow>(
  "delivery_list",
  `select d.id, d.webhook_id, d.seq, d.item_id, d.type, d.state, d.tries, d.next_at, d.last_status, d.last_reason,
     d.last_tried_at, d.ended_at, d.created_at
   from deliveries d
   where ($1::uuid is null or d.webhook_id = $1) and ($2::text is null or d.state = $2)
   order by d.seq desc, d.id limit $3 offset $4`,
);

export interface DeliveryPage {
  readonly webhookId: string | null;
  readonly state: DeliveryState | null;
  readonly limit: number;
  readonly offset: number;
}

/** A page, the latest event at its head. */
export async function listDeliveryRows(handle: Handle, page: DeliveryPage): Promise<DeliveryRow[]> {
  return await list(handle, [page.webhookId, page.state, page.limit, page.offset]);
}

const settle = statement<{ id: string }>(
  "delivery_settle",
  `update deliveries d set state = $3, next_at = muster_now(), taken_until = null,
     tries = case when $3 = 'pending' then 0 else d.tries end,
     ended_at = case when $3 = 'pending' then null else muster_now() end
   where d.state = 'dead' and (d.id = any($1::uuid[]) or d.webhook_id = $2)
   returning d.id`,
);

/** Brings dead ones back, or lets go of them: those that are named, or all of a webhook. Answers how many. */
export async function settleDeadDeliveries(
  handle: Handle,
  which: { readonly ids: readonly string[]; readonly webhookId: string | null },
  state: "pending" | "discarded",
): Promise<number> {
  return (await settle(handle, [which.ids, which.webhookId, state])).length;
}
