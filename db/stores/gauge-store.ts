/** What a fleet looks like now, in a few numbers. Read seldom: it counts rows. */
import { type Handle, statement } from "../statement.ts";

export interface ReadyCount {
  readonly rootId: string;
  readonly role: string;
  readonly items: number;
  /** How long the oldest of them has been in its role. */
  readonly oldestSeconds: number;
}

const selectReady = statement<{ root_id: string; role: string; items: number; oldest: number }>(
  "gauges_ready",
  `select root_id, role::text as role, count(*)::float8 as items,
     coalesce(max(extract(epoch from muster_now() - greatest(role_changed_at, available_at))), 0)::float8 as oldest
   from item_state
   where role in ('queue', 'work', 'review') and agent is null and blockers = 0 and ancestor_blockers = 0
     and open_children = 0 and not dead and (available_at is null or available_at <= muster_now())
   group by root_id, role`,
);

/** Items that nothing but a claim is missing to, by root and role. */
export async function countReady(handle: Handle): Promise<ReadyCount[]> {
  const rows = await selectReady(handle, []);
  return rows.map(({ root_id: rootId, role, items, oldest }) => ({
    rootId,
    role,
    items,
    oldestSeconds: oldest,
  }));
}

export interface FleetCounts {
  readonly held: number;
  readonly lapsed: number;
  readonly dead: number;
  /** Since anybody swept; null if nobody ever did. */
  readonly sweepAgeSeconds: number | null;
  /** Of the oldest transaction on this database: it keeps old rows, and gaps in the outbox, alive. */
  readonly oldestSnapshotSeconds: number;
}

const selectCounts = statement<{
  held: number;
  lapsed: number;
  dead: number;
  sweep_age: number | null;
  oldest_snapshot: number;
}>(
  "gauges_counts",
  `select
     (select count(*) from item_state where agent is not null)::float8 as held,
     (select count(*) from item_state where agent is not null and expires_at <= muster_now())::float8 as lapsed,
     (select count(*) from item_state where dead)::float8 as dead,
     (select extract(epoch from muster_now() - max(ran_at))::float8 from sweeps where name = 'claims') as sweep_age,
     (select coalesce(max(extract(epoch from clock_timestamp() - xact_start)), 0)::float8 from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()) as oldest_snapshot`,
);

export async function countFleet(handle: Handle): Promise<FleetCounts> {
  const [row] = await selectCounts(handle, []);
  if (row === undefined) throw new Error("the counts of the fleet are one row");
  return {
    held: row.held,
    lapsed: row.lapsed,
    dead: row.dead,
    sweepAgeSeconds: row.sweep_age,
    oldestSnapshotSeconds: row.oldest_snapshot,
  };
}
