/** Who has which resource, and who had it when. */
import { CompiledQuery } from "kysely";
import type { LeaseEndReason, LeaseMode } from "../../services/core/leases/lease.ts";
import { type Handle, statement } from "../statement.ts";
import { narrowed } from "./item-read-store.ts";
import { matchesFilter, Parameters } from "./readiness-sql.ts";

export interface LeaseRow {
  item_id: string;
  title: string;
  key: string;
  mode: LeaseMode;
  acquired_by: string | null;
  acquired_at: Date;
  original_acquired_at: Date;
  /** Of a held item's lease, when the claim expires. */
  expires_at: Date;
  held: boolean;
}

export interface LeaseListQuery {
  readonly key?: string | undefined;
  readonly ancestorId?: string | undefined;
  /** What the caller sees; undefined: everything. */
  readonly scope?: readonly string[] | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** `s` is the item that has the lease `l`. */
const LIVE = `(s.agent is not null or l.expires_at > muster_now())`;
const UNTIL = `coalesce(s.expires_at, l.expires_at)`;

/** A page of the leases that live, by key, and how many there are in all. */
export async function listLive(
  handle: Handle,
  query: LeaseListQuery,
): Promise<{ rows: LeaseRow[]; total: number }> {
  const where = (parameters: Parameters): string => {
    const { ancestorId, scope } = query;
    const filter = { ancestorId, scope };
    const conditions = [LIVE, ...narrowed(filter, parameters), matchesFilter(filter, parameters)];
    if (query.key !== undefined) conditions.push(`l.key = ${parameters.add(query.key, "::text")}`);
    return conditions.join(" and ");
  };
  const counting = new Parameters();
  const counted = await handle.executeQuery<{ total: number }>(
    CompiledQuery.raw(
      `select count(*)::int as total from resource_leases l join item_state s on s.item_id = l.item_id
       where ${where(counting)}`,
      counting.values,
    ),
  );
  const parameters = new Parameters();
  const { rows } = await handle.executeQuery<LeaseRow>(
    CompiledQuery.raw(
      `select l.item_id, i.title, l.key, l.mode, l.acquired_by, l.acquired_at, l.original_acquired_at,
         ${UNTIL} as expires_at, s.agent is not null as held
       from resource_leases l join item_state s on s.item_id = l.item_id join items i on i.id = l.item_id
       where ${where(parameters)} order by l.key, l.acquired_at, l.item_id
       limit ${parameters.add(query.limit, "::int")} offset ${parameters.add(query.offset, "::int")}`,
      parameters.values,
    ),
  );
  return { rows, total: counted.rows[0]?.total ?? 0 };
}

export interface IntervalRow {
  item_id: string;
  key: string;
  mode: LeaseMode;
  acquired_by: string | null;
  acquired_at: Date;
  /** When it will end by itself, if it has not ended. Null if its lease is gone without a trace. */
  expires_at: Date | null;
  released_at: Date | null;
  release_reason: LeaseEndReason | null;
  released_by: string | null;
  detail: string | null;
}

export interface IntervalQuery {
  readonly key?: string | undefined;
  readonly itemId?: string | undefined;
  /** What the caller sees; undefined: everything. */
  readonly scope?: readonly string[] | undefined;
  readonly at?: Date | undefined;
  readonly limit: number;
  readonly offset: number;
}

/**
 * Newest first. An interval whose lease is over and that nobody has closed yet ends, for
 * every reader, when its lease did.
 */
export async function listIntervals(handle: Handle, query: IntervalQuery): Promise<IntervalRow[]> {
  const parameters = new Parameters();
  const conditions = ["true"];
  if (query.key !== undefined) conditions.push(`h.key = ${parameters.add(query.key, "::text")}`);
  if (query.itemId !== undefined) conditions.push(`h.item_id = ${parameters.add(query.itemId, "::uuid")}`);
  if (query.scope !== undefined) {
    const tops = parameters.add(query.scope, "::uuid[]");
    conditions.push(`exists (select 1 from item_state v where v.item_id = h.item_id
      and (v.item_id = any(${tops}) or v.ancestors && ${tops}))`);
  }
  if (query.at !== undefined) {
    const at = parameters.add(query.at, "::timestamptz");
    conditions.push(`h.acquired_at <= ${at} and coalesce(h.released_at, w.until, 'infinity') > ${at}`);
  }
  const { rows } = await handle.executeQuery<IntervalRow>(
    CompiledQuery.raw(
      `select h.item_id, h.key, h.mode, h.acquired_by, h.acquired_at, w.until as expires_at, h.released_at,
         h.release_reason, h.released_by, h.detail
       from resource_lease_history h
       left join lateral (
         select case when s.agent is null or not ${LIVE} then l.expires_at else s.expires_at end as until
         from resource_leases l join item_state s on s.item_id = l.item_id
         where h.released_at is null and l.item_id = h.item_id and l.key = h.key) w on true
       where ${conditions.join(" and ")} order by h.acquired_at desc, h.id desc
       limit ${parameters.add(query.limit, "::int")} offset ${parameters.add(query.offset, "::int")}`,
      parameters.values,
    ),
  );
  return rows;
}

const having = statement<{ item_id: string }>(
  "leases_having",
  `select item_id from resource_leases where key = $1 order by item_id`,
);

const havingWithin = statement<{ item_id: string }>(
  "leases_having_within",
  `select l.item_id from resource_leases l join item_state s on s.item_id = l.item_id
   where l.key = $1 and (s.item_id = any($2::uuid[]) or s.ancestors && $2::uuid[]) order by l.item_id`,
);

/** Items with a lease on the key that the caller sees, whether it lives or is over. Read without a lock. */
export async function findHaving(
  handle: Handle,
  key: string,
  scope: readonly string[] | null,
): Promise<string[]> {
  const rows = scope === null ? await having(handle, [key]) : await havingWithin(handle, [key, scope]);
  return rows.map((row) => row.item_id);
}
