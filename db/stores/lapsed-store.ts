/** Claims whose expiry has passed in the database. Whether they lapsed is for the claim clock to say. */
import { type Handle, runGenerated, statement } from "../statement.ts";
import { matchesFilter, Parameters, type SelectorFilter } from "./readiness-sql.ts";

export interface ExpiredClaim {
  readonly itemId: string;
  readonly fence: number;
  readonly ttlMs: number;
  /** Milliseconds of the database's clock. */
  readonly expiresAt: number;
  readonly now: number;
}

interface ExpiredRow {
  item_id: string;
  fence: number;
  ttl_ms: number;
  expires_at: Date;
  now: Date;
}

const expired = statement<ExpiredRow>(
  "claims_expired",
  `select s.item_id, s.fence, s.ttl_ms, s.expires_at, muster_now() as now
   from item_state s
   where s.agent is not null
     and s.expires_at + least(s.ttl_ms / 3.0, $1) * interval '1 millisecond' <= muster_now()
     and s.expires_at <= muster_now()
   order by s.expires_at
   limit $2`,
);

/** Oldest first. @param graceMaxMs how long a lapsed holder is left to come back: a third of its ttl, at most this */
export async function findExpired(
  handle: Handle,
  graceMaxMs: number,
  limit: number,
): Promise<ExpiredClaim[]> {
  return (await expired(handle, [graceMaxMs, limit])).map(toExpiredClaim);
}

/**
 * The same without grace, for a selector that found nothing else: claims on items that it
 * would match, on containers, which may stand above such items, and on items that have what such
 * items may need. Others keep their grace.
 */
export async function findExpiredInTheWay(
  handle: Handle,
  filter: SelectorFilter,
  limit: number,
): Promise<ExpiredClaim[]> {
  const parameters = new Parameters();
  const text = `select s.item_id, s.fence, s.ttl_ms, s.expires_at, muster_now() as now
    from item_state s
    where s.agent is not null and s.expires_at <= muster_now()
      and (s.open_children > 0 or s.leased is not null or (${matchesFilter(filter, parameters)}))
    order by s.expires_at
    limit ${parameters.add(limit, "::int")}`;
  return (await runGenerated<ExpiredRow>(handle, text, parameters.values)).map(toExpiredClaim);
}

function toExpiredClaim(row: ExpiredRow): ExpiredClaim {
  return {
    itemId: row.item_id,
    fence: row.fence,
    ttlMs: row.ttl_ms,
    expiresAt: row.expires_at.getTime(),
    now: row.now.getTime(),
  };
}

const recordSweep = statement<never>(
  "sweeps_record",
  `insert into sweeps (name, ran_at, freed) values ('claims', muster_now(), $1)
   on conflict (name) do update set ran_at = excluded.ran_at, freed = excluded.freed
   where sweeps.ran_at < excluded.ran_at - interval '1 second' or excluded.freed > 0`,
);

export async function recordSweepRun(handle: Handle, freed: number): Promise<void> {
  await recordSweep(handle, [freed]);
}

const sweepAge = statement<{ age_ms: number | null }>(
  "sweeps_age",
  `select extract(epoch from muster_now() - max(ran_at))::float8 * 1000 as age_ms from sweeps where name = 'claims'`,
);

/** Milliseconds since anybody swept; null if nobody ever did. */
export async function sweepAgeMs(handle: Handle): Promise<number | null> {
  const [row] = await sweepAge(handle, []);
  return row?.age_ms ?? null;
}
