/**
 * Reads the outbox, in the order of its numbers. Numbers are taken inside transactions and seen
 * when those end, so a number may be missing now and be there later: who reads has to stop before
 * it, and {@link runningTransactions} says how long.
 */
import { type Handle, statement } from "../statement.ts";

export interface StoredEvent {
  readonly seq: number;
  readonly type: string;
  readonly itemId: string | null;
  readonly rootId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly traceparent: string | null;
  /** Those of the item now, the root first; null when the item is gone. */
  readonly ancestors: readonly string[] | null;
  /** The same of the other end, if the event is about an edge. */
  readonly otherAncestors: readonly string[] | null;
}

interface EventRow {
  seq: string | number;
  type: string;
  item_id: string | null;
  root_id: string | null;
  data: Record<string, unknown>;
  at: number;
  traceparent: string | null;
  ancestors: string[] | null;
  other_ancestors: string[] | null;
}

const selectEvents = statement<EventRow>(
  "events_after",
  `select e.seq, e.type, e.item_id, e.root_id, e.data, (extract(epoch from e.at) * 1000)::float8 as at, e.traceparent,
     s.ancestors, o.ancestors as other_ancestors
   from events e
     left join item_state s on s.item_id = e.item_id
     left join item_state o on o.item_id = (e.data ->> 'fromItemId')::uuid
   where e.seq > $1::int8 and e.seq <= $2::int8
   order by e.seq limit $3::int4`,
);

/** Events with numbers above `after`, up to `upTo`, at most `limit`, in order. Some between them may not be there yet. */
export async function findEvents(
  handle: Handle,
  range: { readonly after: number; readonly upTo?: number; readonly limit: number },
): Promise<StoredEvent[]> {
  const rows = await selectEvents(handle, [range.after, range.upTo ?? Number.MAX_SAFE_INTEGER, range.limit]);
  return rows.map((row) => ({
    seq: Number(row.seq),
    type: row.type,
    itemId: row.item_id,
    rootId: row.root_id,
    data: row.data,
    at: Math.round(row.at),
    traceparent: row.traceparent,
    ancestors: row.ancestors,
    otherAncestors: row.other_ancestors,
  }));
}

const selectBounds = statement<{ oldest: string | number | null; newest: string | number }>(
  "events_bounds",
  `select (select min(seq) from events) as oldest,
     coalesce(pg_sequence_last_value(pg_get_serial_sequence('events', 'seq')::regclass), 0) as newest`,
);

export interface EventBounds {
  /** The lowest number that is still kept; null when there is none. */
  readonly oldest: number | null;
  /** The highest number that was ever taken; 0 before the first. */
  readonly newest: number;
}

export async function findEventBounds(handle: Handle): Promise<EventBounds> {
  const [row] = await selectBounds(handle, []);
  if (row === undefined) throw new Error("the bounds of the outbox are one row");
  return { oldest: row.oldest === null ? null : Number(row.oldest), newest: Number(row.newest) };
}

// Virtual ids, because a transaction may take a number before it has one of the permanent ones.
// A vacuum writes no events and may run for hours.
const selectRunning = statement<{ transaction: string }>(
  "events_running_transactions",
  `select l.virtualtransaction as transaction
   from pg_locks l join pg_stat_activity a on a.pid = l.pid
   where l.locktype = 'virtualxid' and l.granted and l.pid <> pg_backend_pid()
     and a.datname = current_database() and a.backend_type is distinct from 'autovacuum worker'`,
);

/** Names of the transactions that run on this database now, without the one that asks. A name is used once. */
export async function runningTransactions(handle: Handle): Promise<ReadonlySet<string>> {
  return new Set((await selectRunning(handle, [])).map((row) => row.transaction));
}
