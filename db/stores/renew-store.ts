/** Extends tenures in the database, many in one statement. */
import { type Handle, statement } from "../statement.ts";

export interface Renewal {
  readonly itemId: string;
  readonly fence: number;
  readonly agent: string;
  readonly session: string | null;
  /** Null keeps the ttl that the claim was given. */
  readonly ttlMs: number | null;
}

export interface RenewedRow {
  readonly itemId: string;
  readonly fence: number;
  readonly agent: string;
  readonly session: string;
  readonly ttlMs: number;
  readonly claimedAt: number;
  readonly originalClaimedAt: number;
  readonly expiresAt: number;
  /** When the item's content or role last changed: what a holder may not know yet. */
  readonly modifiedAt: number;
  /** Resources that an operator took from the item. */
  readonly lostLeases: readonly string[];
  /** Its agent is to take nothing new after this. */
  readonly drained: boolean;
  readonly now: number;
}

interface Row {
  item_id: string;
  fence: number;
  agent: string;
  session: string;
  ttl_ms: number;
  claimed_at: Date;
  original_claimed_at: Date;
  expires_at: Date;
  modified_at: Date;
  lost_leases: string[] | null;
  drained: boolean;
  now: Date;
}

// Locked in id order first: two calls that renew the same items queue up. The update's own
// conditions are judged on the locked version, so a holder that was just displaced renews nothing.
const renewing = (skipLocked: "" | " skip locked"): string =>
  `with wanted as (
     select * from jsonb_to_recordset($1::jsonb) as c(item_id uuid, fence bigint, agent text, ttl_ms int)
   ), locked as materialized (
     select s.item_id from item_state s
     where s.item_id = any(array(select item_id from wanted))
     order by s.item_id
     for no key update of s${skipLocked}
   )
   update item_state s set
     ttl_ms = coalesce(w.ttl_ms, s.ttl_ms),
     expires_at = greatest(s.expires_at, least(
       muster_now() + coalesce(w.ttl_ms, s.ttl_ms) * interval '1 millisecond',
       s.original_claimed_at + $2 * interval '1 millisecond'))
   from locked l join wanted w on w.item_id = l.item_id
   where s.item_id = l.item_id and s.fence = w.fence and s.agent = w.agent
     and muster_now() < s.original_claimed_at + $2 * interval '1 millisecond'
   returning s.item_id, s.fence, s.agent, s.session, s.ttl_ms, s.claimed_at, s.original_claimed_at, s.expires_at,
     s.modified_at, s.lost_leases, exists (select 1 from agent_drains d where d.agent = s.agent) as drained, muster_now() as now`;

const renewFree = statement<Row>("claims_renew_free", renewing(" skip locked"));
const renewWaiting = statement<Row>("claims_renew_waiting", renewing(""));

/**
 * Answers the tenures that were extended. One that is missing is over, was never the
 * caller's, or has its row locked by somebody: heartbeats of many holders must not wait
 * for the row of one of them.
 */
export async function renewTenures(
  handle: Handle,
  renewals: readonly Renewal[],
  tenureMs: number,
): Promise<Map<string, RenewedRow>> {
  const rows = await renewFree(handle, [toWanted(renewals), tenureMs]);
  return new Map(rows.map((row) => [row.item_id, toRenewed(row)]));
}

/** The same for one, waiting for its row. Null: the tenure is over, or was never the caller's. */
export async function renewTenure(
  handle: Handle,
  renewal: Renewal,
  tenureMs: number,
): Promise<RenewedRow | null> {
  const [row] = await renewWaiting(handle, [toWanted([renewal]), tenureMs]);
  return row === undefined ? null : toRenewed(row);
}

function toWanted(renewals: readonly Renewal[]): string {
  return JSON.stringify(
    renewals.map(({ itemId, fence, agent, ttlMs }) => ({ item_id: itemId, fence, agent, ttl_ms: ttlMs })),
  );
}

function toRenewed(row: Row): RenewedRow {
  return {
    itemId: row.item_id,
    fence: row.fence,
    agent: row.agent,
    session: row.session,
    ttlMs: row.ttl_ms,
    claimedAt: row.claimed_at.getTime(),
    originalClaimedAt: row.original_claimed_at.getTime(),
    expiresAt: row.expires_at.getTime(),
    modifiedAt: row.modified_at.getTime(),
    lostLeases: row.lost_leases ?? [],
    drained: row.drained,
    now: row.now.getTime(),
  };
}

const whyNot = statement<{ item_id: string; fence: number; agent: string | null; tenure_over: boolean }>(
  "claims_why_not_renewed",
  `select s.item_id, s.fence, s.agent,
     coalesce(muster_now() >= s.original_claimed_at + $2 * interval '1 millisecond', false) as tenure_over
   from item_state s where s.item_id = any($1::uuid[])`,
);

/** Why tenures were not extended: the item is gone, the tenure reached its cap, or it ended. */
export async function findWhyNotRenewed(
  handle: Handle,
  renewals: readonly Renewal[],
  tenureMs: number,
): Promise<("not_found" | "tenure_over" | "claim_lost")[]> {
  const rows = await whyNot(handle, [renewals.map((one) => one.itemId), tenureMs]);
  const byId = new Map(rows.map((row) => [row.item_id, row]));
  return renewals.map(({ itemId, fence, agent }) => {
    const row = byId.get(itemId);
    if (!row) return "not_found";
    return row.tenure_over && row.fence === fence && row.agent === agent ? "tenure_over" : "claim_lost";
  });
}
