/**
 * What reports are made of, one statement a section, so that one that fails takes no other
 * with it. $1: items whose subtrees are reported on (null: everything); $2: how many rows, and
 * one more says that there are more.
 */
import type { Priority, Role } from "../../services/core/roles.ts";
import { type Handle, statement } from "../statement.ts";
import { STUCK } from "./blocked-condition.ts";

export interface ReportRow {
  readonly item_id: string;
  readonly title: string;
  readonly role: Role;
  readonly priority: Priority;
  /** What the section is about: since when it stands still, when it was due, when it was done. */
  readonly at: Date;
  readonly agent: string | null;
  /** A word or a text of the section's own. */
  readonly what: string | null;
  readonly root_title: string | null;
}

const WITHIN = `($1::uuid[] is null or s.item_id = any($1) or s.ancestors && $1)`;
const COLUMNS = `s.item_id, i.title, s.role, s.priority`;
const NONE = `null::text as agent, null::text as what, null::text as root_title`;

export interface ReportScope {
  /** Null: everything. */
  readonly within: readonly string[] | null;
  readonly limit: number;
}

// What an agent writes, and what is changed about the item, moves `modified_at`; a heartbeat does not. So a
// claim that is only kept alive stands still.
const stalled = statement<ReportRow>(
  "report_stalled",
  `select ${COLUMNS}, s.modified_at as at, null::text as agent, null::text as root_title,
     case when s.agent is null and s.role = 'work' then 'unclaimed'
       when s.expires_at <= muster_now() then 'claim_lapsed' else 'no_progress' end as what
   from item_state s join items i on i.id = s.item_id
   where s.role in ('work', 'review') and s.open_children = 0 and ${WITHIN}
     and ((s.agent is null and s.role = 'work') or s.expires_at <= muster_now()
       or s.modified_at < muster_now() - $3::int * interval '1 hour')
   order by s.modified_at, s.item_id limit $2`,
);

/** Begun and not getting on: nobody on it, its claim lapsed, or nothing written or moved for so long. */
export async function reportStalled(handle: Handle, scope: ReportScope, hours: number): Promise<ReportRow[]> {
  return await stalled(handle, [scope.within, scope.limit, hours]);
}

const due = statement<ReportRow>(
  "report_due",
  `select ${COLUMNS}, i.due_at as at, ${NONE}
   from items i join item_state s on s.item_id = i.id
   where i.due_at > coalesce($3::timestamptz, '-infinity') and i.due_at <= coalesce($4::timestamptz, muster_now())
     and s.role <> 'terminal' and ${WITHIN}
   order by i.due_at, i.id limit $2`,
);

/** Open items that were due after one instant and by another; now, if it does not say. */
export async function reportDue(
  handle: Handle,
  scope: ReportScope,
  after: Date | null,
  by: Date | null,
): Promise<ReportRow[]> {
  return await due(handle, [scope.within, scope.limit, after, by]);
}

const stuck = statement<ReportRow>(
  "report_stuck",
  `select ${COLUMNS}, s.role_changed_at as at, null::text as agent, null::text as root_title,
     case when s.dead then 'dead' when s.role = 'blocked' then 'on_hold'
       when s.blockers > 0 then 'dependency' else 'ancestor' end as what
   from item_state s join items i on i.id = s.item_id
   where ${STUCK} and ${WITHIN} order by s.rank, s.created_at, s.item_id limit $2`,
);

/** On hold, dead, or waiting for a blocker. */
export async function reportStuck(handle: Handle, scope: ReportScope): Promise<ReportRow[]> {
  return await stuck(handle, [scope.within, scope.limit]);
}

const closable = statement<ReportRow>(
  "report_closable",
  `select ${COLUMNS}, s.modified_at as at, ${NONE}
   from item_state s join items i on i.id = s.item_id
   where s.role in ('work', 'review', 'blocked') and s.open_children = 0 and s.done_children > 0 and ${WITHIN}
   order by s.modified_at, s.item_id limit $2`,
);

/** Containers whose children are all done. */
export async function reportClosable(handle: Handle, scope: ReportScope): Promise<ReportRow[]> {
  return await closable(handle, [scope.within, scope.limit]);
}

const active = statement<ReportRow>(
  "report_active",
  `select ${COLUMNS}, s.role_changed_at as at, s.agent, null::text as what, null::text as root_title
   from item_state s join items i on i.id = s.item_id
   where s.role in ('work', 'review') and s.open_children = 0 and ${WITHIN}
   order by s.rank, s.created_at, s.item_id limit $2`,
);

/** Leaves in work and in review. */
export async function reportActive(handle: Handle, scope: ReportScope): Promise<ReportRow[]> {
  return await active(handle, [scope.within, scope.limit]);
}

const done = statement<ReportRow>(
  "report_done",
  // Once each, by its last move there; what was cancelled is not done.
  `select * from (
     select distinct on (t.item_id) ${COLUMNS}, t.at, t.agent, t.summary as what, r.title as root_title
     from transitions t join item_state s on s.item_id = t.item_id join items i on i.id = t.item_id
     left join items r on r.id = s.root_id and r.id <> s.item_id
     where t.at >= $3 and t.to_role = 'terminal' and s.role = 'terminal' and s.outcome = 'done' and ${WITHIN}
     order by t.item_id, t.id desc
   ) d order by d.at desc, d.item_id limit $2`,
);

/** Done since, the latest first. */
export async function reportDone(handle: Handle, scope: ReportScope, since: Date): Promise<ReportRow[]> {
  return await done(handle, [scope.within, scope.limit, since]);
}

const moved = statement<ReportRow>(
  "report_moved",
  `select ${COLUMNS}, t.at, t.agent, t.trigger || ': ' || t.from_role || ' to ' || t.to_role as what, null::text as root_title
   from transitions t join item_state s on s.item_id = t.item_id join items i on i.id = t.item_id
   where t.at >= $3 and ($4::text is null or t.agent = $4) and ${WITHIN}
   order by t.at desc, t.id desc limit $2`,
);

/** Moves since, the latest first; of one agent, if one is named. */
export async function reportMoved(
  handle: Handle,
  scope: ReportScope,
  since: Date,
  agent: string | null,
): Promise<ReportRow[]> {
  return await moved(handle, [scope.within, scope.limit, since, agent]);
}

export interface DayRow {
  readonly day: string;
  readonly started: number;
  readonly done: number;
  readonly cancelled: number;
  readonly failed: number;
}

const days = statement<DayRow>(
  "report_days",
  `select to_char(date_trunc('day', t.at at time zone 'UTC'), 'YYYY-MM-DD') as day,
     count(*) filter (where t.trigger = 'start' and t.to_role = 'work')::int as started,
     count(*) filter (where t.to_role = 'terminal' and t.trigger <> 'cancel')::int as done,
     count(*) filter (where t.trigger = 'cancel')::int as cancelled,
     count(*) filter (where t.trigger in ('fail', 'expire'))::int as failed
   from transitions t join item_state s on s.item_id = t.item_id
   where t.at >= $2 and ${WITHIN} group by 1 order by 1`,
);

/** Moves by day of UTC, the earliest first. */
export async function reportDays(
  handle: Handle,
  within: readonly string[] | null,
  since: Date,
): Promise<DayRow[]> {
  return await days(handle, [within, since]);
}
