/** The indexes and triggers of a schema, and how full its server is. */
import { type Handle, statement } from "../statement.ts";

export interface SchemaObject {
  readonly kind: "index" | "trigger";
  readonly name: string;
  readonly table: string;
  /** The statement that makes it. */
  readonly definition: string;
  /** False of an index whose building was cut off, and of a trigger that is disabled. */
  readonly valid: boolean;
}

const objects = statement<{
  kind: "index" | "trigger";
  name: string;
  table_name: string;
  definition: string;
  valid: boolean;
}>(
  "catalogue_objects",
  `select 'index' as kind, c.relname::text as name, t.relname::text as table_name, pg_get_indexdef(x.indexrelid) as definition,
     x.indisvalid as valid
   from pg_index x join pg_class c on c.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
   where t.relnamespace = current_schema()::regnamespace and not x.indisprimary
   union all
   select 'trigger', g.tgname::text, t.relname::text, pg_get_triggerdef(g.oid), g.tgenabled <> 'D'
   from pg_trigger g join pg_class t on t.oid = g.tgrelid
   where t.relnamespace = current_schema()::regnamespace and not g.tgisinternal
   order by 1, 2`,
);

export async function listObjects(handle: Handle): Promise<SchemaObject[]> {
  return (await objects(handle, [])).map(({ table_name: table, ...rest }) => ({ ...rest, table }));
}

const connections = statement<{ used: number; max: number }>(
  "catalogue_connections",
  `select (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used,
     current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as max`,
);

/** Connections of the whole server, whoever has them, and how many it gives. */
export async function countConnections(
  handle: Handle,
): Promise<{ readonly used: number; readonly max: number }> {
  const [row] = await connections(handle, []);
  if (row === undefined) throw new Error("The server told nothing of its connections.");
  return row;
}

const overdue = statement<{ claims: number; oldest_ms: number | null }>(
  "catalogue_overdue",
  `select count(*)::int as claims, (extract(epoch from muster_now() - min(s.expires_at)) * 1000)::float8 as oldest_ms
   from item_state s where s.agent is not null and s.expires_at <= muster_now() - $1 * interval '1 millisecond'`,
);

/** Claims that expired longer ago than a sweep may leave them, and since when the oldest of them. */
export async function findOverdue(
  handle: Handle,
  lateMs: number,
): Promise<{ readonly claims: number; readonly oldestMs: number | null }> {
  const [row] = await overdue(handle, [lateMs]);
  return { claims: row?.claims ?? 0, oldestMs: row?.oldest_ms ?? null };
}

const younger = statement<{ claims: number; ttl_ms: number | null }>(
  "catalogue_older_claims",
  `select count(*)::int as claims, max(s.ttl_ms) as ttl_ms from item_state s
   where s.agent is not null and s.expires_at > muster_now() and s.claimed_at < coalesce($1::timestamptz, muster_now())
     and coalesce($1::timestamptz, muster_now()) + s.ttl_ms * interval '1 millisecond' > muster_now()`,
);

/** Claims that live, are older than a memory which began then (null: now), and have a ttl that it does not reach back by. */
export async function findClaimsBefore(
  handle: Handle,
  sinceMs: number | null,
): Promise<{ readonly claims: number; readonly ttlMs: number }> {
  const [row] = await younger(handle, [sinceMs === null ? null : new Date(sinceMs)]);
  return { claims: row?.claims ?? 0, ttlMs: row?.ttl_ms ?? 0 };
}
