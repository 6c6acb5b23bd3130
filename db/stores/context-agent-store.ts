/**
 * What an agent holds, what it dispatched, and what of that has ended.
 *
 * Ends are told by a position: the snapshots of the transactions that were seen, so that an
 * end which commits after a later one is not passed over, whichever replica reads.
 */
import type { Outcome, Role } from "../../services/core/roles.ts";
import type { EndReason } from "../../services/core/state.ts";
import { type Handle, statement } from "../statement.ts";

/** Items whose subtrees the caller sees; null: everything. */
type Scope = readonly string[] | null;

export interface ClaimOfAgentRow {
  readonly item_id: string;
  readonly title: string;
  readonly role: Role;
  readonly status_label: string | null;
  readonly agent: string;
  readonly fence: number;
  readonly claimed_at: Date;
  readonly expires_at: Date;
  readonly now: Date;
  readonly total: number;
}

const CLAIM = `s.item_id, i.title, s.role, s.status_label, s.agent, s.fence, s.claimed_at, s.expires_at,
  muster_now() as now, (count(*) over ())::int as total`;

/** What the caller sees of `s`; `n` is the parameter, null for everything. */
const visible = (n: number): string =>
  `($${n}::uuid[] is null or s.item_id = any($${n}::uuid[]) or s.ancestors && $${n}::uuid[])`;

const held = statement<ClaimOfAgentRow>(
  "context_held",
  `select ${CLAIM} from item_state s join items i on i.id = s.item_id
   where s.agent is not null and s.agent = $1 and ${visible(3)} order by s.claimed_at, s.item_id limit $2`,
);

/** The claims of an agent, in whatever session, oldest first; `total` counts those beyond the limit too. */
export async function findHeld(
  handle: Handle,
  agent: string,
  limit: number,
  scope: Scope,
): Promise<ClaimOfAgentRow[]> {
  return await held(handle, [agent, limit, scope]);
}

const dispatched = statement<ClaimOfAgentRow>(
  "context_dispatched",
  `select ${CLAIM} from attempts a
   join item_state s on s.item_id = a.item_id and s.fence = a.fence and s.agent = a.agent
   join items i on i.id = a.item_id
   where a.parent_agent = $1 and a.claimed_at > muster_now() - $3::int * interval '1 hour' and a.ended_at is null
     and ${visible(4)}
   order by s.claimed_at, s.item_id limit $2`,
);

/** The claims of those that an agent dispatched. */
export async function findDispatched(
  handle: Handle,
  agent: string,
  limit: number,
  scope: Scope,
): Promise<ClaimOfAgentRow[]> {
  return await dispatched(handle, [agent, limit, ATTEMPT_HOURS_MAX, scope]);
}

/** No attempt is older: a tenure ends after a day, and is swept soon after. */
const ATTEMPT_HOURS_MAX = 26;

/** How far a reader of ends has come. Snapshots as the database writes them. */
export interface EndsPosition {
  /** When it read, in milliseconds: no attempt that began long before can have ended since. */
  readonly at: number;
  /** Everything visible in it was told. */
  readonly seen: string;
  /** A page ended within what is visible here; told up to the key. */
  readonly page: {
    readonly upTo: string;
    readonly xid: string;
    readonly itemId: string;
    readonly fence: number;
  } | null;
}

export interface EndRow {
  readonly item_id: string;
  readonly title: string;
  readonly agent: string;
  readonly fence: number;
  readonly end_reason: EndReason;
  readonly ended_at: Date;
  readonly detail: string | null;
  readonly role: Role;
  readonly outcome: Outcome | null;
  readonly status_label: string | null;
  readonly dead: boolean;
  readonly summary: string | null;
  readonly ended_xid: string;
  /** Visible in `upTo` of the position. */
  readonly old: boolean;
}

interface Snapshot {
  readonly snapshot: string;
  readonly now: Date;
  readonly known: boolean;
}

const snapshotNow = statement<Snapshot>(
  "context_snapshot",
  // A position from before a restore speaks of transactions that are still to come.
  `select pg_current_snapshot()::text as snapshot, muster_now() as now,
     coalesce(pg_snapshot_xmax($1::pg_snapshot) <= pg_snapshot_xmax(pg_current_snapshot()), true) as known`,
);

const ends = statement<EndRow>(
  "context_ends",
  `select a.item_id, i.title, a.agent, a.fence, a.end_reason, a.ended_at, a.detail, s.role, s.outcome,
     s.status_label, s.dead, a.ended_xid::text as ended_xid, a.old, t.summary
   from (
     select a.*, $4::pg_snapshot is null or pg_visible_in_snapshot(a.ended_xid, $4::pg_snapshot) as old
     from attempts a
     where a.parent_agent = $1 and a.claimed_at > $2::timestamptz - $8::int * interval '1 hour'
       and a.ended_xid is not null and ($3::pg_snapshot is null or not pg_visible_in_snapshot(a.ended_xid, $3::pg_snapshot))
   ) a
   join item_state s on s.item_id = a.item_id join items i on i.id = a.item_id
   left join lateral (
     -- What was said with the move that ended it.
     select t.summary from transitions t
     where t.item_id = a.item_id and t.at between a.claimed_at and a.ended_at and t.summary is not null
     order by t.id desc limit 1
   ) t on true
   where (not a.old or $5::text is null
     or (a.ended_xid, a.item_id, a.fence) > ($5::text::xid8, $6::uuid, $7::bigint)) and ${visible(10)}
   order by not a.old, a.ended_xid, a.item_id, a.fence limit $9`,
);

export interface Ends {
  readonly rows: readonly EndRow[];
  readonly hasMore: boolean;
  readonly next: EndsPosition;
  /** The position could not be one of this database. */
  readonly reset: boolean;
}

/** What ended since the position; all that is recent without one. Call it in a transaction that sees one snapshot. */
export async function findEnds(
  handle: Handle,
  agent: string,
  position: EndsPosition | null,
  limit: number,
  scope: Scope,
): Promise<Ends> {
  const [current] = await snapshotNow(handle, [position?.page?.upTo ?? position?.seen ?? null]);
  if (current === undefined) throw new Error("a database without a snapshot");
  const from = current.known ? position : null;
  const { page = null } = from ?? {};
  const found = await ends(handle, [
    agent,
    from === null ? current.now : new Date(from.at),
    from?.seen ?? null,
    page?.upTo ?? null,
    page?.xid ?? null,
    page?.itemId ?? null,
    page?.fence ?? null,
    ATTEMPT_HOURS_MAX,
    limit + 1,
    scope,
  ]);
  const rows = found.slice(0, limit);
  const { snapshot, now } = current;
  const last = rows.at(-1);
  const at = now.getTime();
  const base = { rows, hasMore: found.length > limit, reset: !current.known };
  if (!base.hasMore || last === undefined) return { ...base, next: { at, seen: snapshot, page: null } };
  const key = { xid: last.ended_xid, itemId: last.item_id, fence: last.fence };
  // What is old is told before what is new, so a page that ends in the new has told all of the old.
  const next: EndsPosition =
    page !== null && !last.old
      ? { at: from?.at ?? at, seen: page.upTo, page: { upTo: snapshot, ...key } }
      : { at: from?.at ?? at, seen: from?.seen ?? NOTHING, page: { upTo: page?.upTo ?? snapshot, ...key } };
  return { ...base, next };
}

/** A snapshot in which no transaction is visible. */
const NOTHING = "1:1:";
