/** Roots whose environment is broken, and the ends of attempts that say so. See `core/breaker.ts`. */
import type { ProbeEnd, RootEnds } from "../../services/core/breaker.ts";
import type { EndReason } from "../../services/core/state.ts";
import { type Handle, statement } from "../statement.ts";

const lock = statement<never>(
  "breaker_lock",
  `select pg_advisory_xact_lock(hashtextextended($1::uuid::text, 17))`,
);

const ends = statement<RootEnds & { open: boolean }>(
  "breaker_ends",
  `select count(*)::int as ends, count(*) filter (where e.environment)::int as failures,
     exists (select 1 from root_breakers b where b.root_id = $1) as open
   from root_ends e where e.root_id = $1 and e.at > muster_now() - $2::int * interval '1 millisecond'`,
);

/** Locks the root's breaker for this transaction, and counts. Null if it is open already. */
export async function lockRootEnds(
  handle: Handle,
  rootId: string,
  windowMs: number,
): Promise<RootEnds | null> {
  await lock(handle, [rootId]);
  const [row] = await ends(handle, [rootId, windowMs]);
  return row === undefined || row.open ? null : row;
}

const open = statement<never>(
  "breaker_open",
  `with opened as (
     insert into root_breakers (root_id, opened_at, reason, failures, ends, probe_at)
     select i.id, muster_now(), $2, $3, $4, muster_now() + $5::int * interval '1 millisecond'
     from items i where i.id = $1
     on conflict do nothing returning root_id, probe_at
   )
   insert into events (type, root_id, data)
   select 'breaker.opened', o.root_id, jsonb_build_object('failures', $3::int, 'ends', $4::int, 'probeAt', o.probe_at)
   from opened o`,
);

export interface OpenedBreaker extends RootEnds {
  readonly rootId: string;
  /** What the last failure said. */
  readonly reason: string | null;
  readonly waitMs: number;
}

export async function openBreaker(handle: Handle, opened: OpenedBreaker): Promise<void> {
  const { rootId, reason, failures, ends: of, waitMs } = opened;
  await open(handle, [rootId, reason, failures, of, waitMs]);
}

const due = statement<{ root_id: string }>(
  "breaker_due",
  `select b.root_id from root_breakers b
   where b.root_id = any($1::uuid[]) and b.probe_item is null and b.probe_at <= muster_now()
   order by b.root_id for update`,
);

/** Locks those of the roots in which a probe may begin now. Whoever comes second finds it begun. */
export async function lockDueProbes(handle: Handle, roots: readonly string[]): Promise<Set<string>> {
  return new Set((await due(handle, [roots])).map((row) => row.root_id));
}

const begin = statement<never>(
  "breaker_begin_probes",
  `update root_breakers b set probe_item = c.item_id, probe_fence = c.fence
   from unnest($1::uuid[], $2::uuid[], $3::bigint[]) as c(root_id, item_id, fence) where b.root_id = c.root_id`,
);

export interface Probe {
  readonly rootId: string;
  readonly itemId: string;
  readonly fence: number;
}

/** Only for roots that {@link lockDueProbes} has locked. */
export async function beginProbes(handle: Handle, probes: readonly Probe[]): Promise<void> {
  await begin(handle, [
    probes.map((one) => one.rootId),
    probes.map((one) => one.itemId),
    probes.map((one) => one.fence),
  ]);
}

interface EndedProbeRow {
  root_id: string;
  item_id: string;
  fence: number;
  probes: number;
  end_reason: EndReason | null;
  failure: "item" | "environment" | null;
}

const ended = statement<EndedProbeRow>(
  "breaker_ended_probes",
  `select b.root_id, b.probe_item as item_id, b.probe_fence as fence, b.probes, a.end_reason, a.failure
   from root_breakers b left join attempts a on a.item_id = b.probe_item and a.fence = b.probe_fence
   where b.probe_item is not null and (a.item_id is null or a.ended_at is not null)`,
);

export interface EndedProbe extends Probe {
  readonly probes: number;
  readonly end: ProbeEnd;
}

/** Probes that are over. */
export async function findEndedProbes(handle: Handle): Promise<EndedProbe[]> {
  return (await ended(handle, [])).map((row) => ({
    rootId: row.root_id,
    itemId: row.item_id,
    fence: row.fence,
    probes: row.probes,
    end: row.end_reason === null ? null : { reason: row.end_reason, failure: row.failure },
  }));
}

const close = statement<{ root_id: string }>(
  "breaker_close",
  `with closed as (
     delete from root_breakers b
     where b.root_id = $1 and ($2::uuid is null or (b.probe_item = $2 and b.probe_fence = $3)) returning b.root_id
   ), forgotten as (
     -- What failed before must not open it again.
     delete from root_ends e using closed c where e.root_id = c.root_id
   ), told as (
     insert into events (type, root_id, data) select 'breaker.closed', c.root_id, $4::jsonb from closed c
   )
   select root_id from closed`,
);

/** Closes it; by a probe, only if that is still the one. False if there was nothing to close. */
export async function closeBreaker(
  handle: Handle,
  rootId: string,
  probe: Probe | null,
  by: "probe" | "operator",
): Promise<boolean> {
  const rows = await close(handle, [
    rootId,
    probe?.itemId ?? null,
    probe?.fence ?? null,
    JSON.stringify({ by }),
  ]);
  return rows.length > 0;
}

const postpone = statement<never>(
  "breaker_postpone",
  `update root_breakers b set probe_item = null, probe_fence = null, probes = $4,
     probe_at = muster_now() + $5::int * interval '1 millisecond'
   where b.root_id = $1 and b.probe_item = $2 and b.probe_fence = $3`,
);

/** The next probe comes after so long. */
export async function postponeProbe(
  handle: Handle,
  { rootId, itemId, fence }: Probe,
  probes: number,
  waitMs: number,
): Promise<void> {
  await postpone(handle, [rootId, itemId, fence, probes, waitMs]);
}

const pause = statement<{ probe_at: Date | null }>(
  "breaker_pause",
  `select case when b.probe_item is null then b.probe_at end as probe_at from root_breakers b
   where b.root_id = $1 and (b.probe_item is not null or b.probe_at > muster_now())`,
);

/** Null if claims in the root are not paused; else when the next probe is, null while one is under way. */
export async function findPause(
  handle: Handle,
  rootId: string,
): Promise<{ readonly until: number | null } | null> {
  const [row] = await pause(handle, [rootId]);
  return row === undefined ? null : { until: row.probe_at?.getTime() ?? null };
}

export interface BreakerRow {
  root_id: string;
  title: string;
  opened_at: Date;
  reason: string | null;
  failures: number;
  ends: number;
  probe_at: Date;
  probes: number;
  probe_item: string | null;
}

const list = statement<BreakerRow>(
  "breaker_list",
  `select b.root_id, i.title, b.opened_at, b.reason, b.failures, b.ends, b.probe_at, b.probes, b.probe_item
   from root_breakers b join items i on i.id = b.root_id order by b.opened_at desc, b.root_id limit $1`,
);

export async function listBreakers(handle: Handle, limit: number): Promise<BreakerRow[]> {
  return await list(handle, [limit]);
}
