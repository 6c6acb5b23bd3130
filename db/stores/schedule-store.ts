/** Schedules. One on an item that is deleted does nothing until the item is back. */
import type { Misfire, Overlap } from "../../services/core/wake-ups/schedule.ts";
import type { Author } from "../../services/core/world.ts";
import { type Handle, statement } from "../statement.ts";
import { authorValues } from "./author-columns.ts";

export interface ScheduleRow {
  id: string;
  name: string;
  item_id: string | null;
  action: "create" | "advance" | "remind";
  template: Record<string, unknown>;
  cron: string | null;
  every_seconds: number | null;
  starts_at: Date;
  timezone: string;
  misfire: Misfire;
  catch_up_max: number;
  overlap: Overlap;
  paused: boolean;
  next_at: Date | null;
  /** What the last run made or reminded of is still open. */
  open: boolean;
  queued: number;
  /** The one that waits first. */
  queued_at: Date | null;
  now: Date;
}

type Scope = readonly string[] | null;

const OPEN = `exists (
    select 1 from (select r.item_id, r.reminder_id from schedule_runs r
      where r.schedule_id = p.id and r.outcome = 'fired' order by r.planned_at desc limit 1) l
    where case p.action
      when 'create' then exists (select 1 from item_state o where o.item_id = l.item_id and o.role <> 'terminal')
      when 'remind' then exists (select 1 from reminders m join item_state o on o.item_id = m.item_id
        where m.id = l.reminder_id and m.acked_at is null and o.role <> 'terminal')
      else false end)`;
const COLUMNS = `p.id, p.name, p.item_id, p.action, p.template, p.cron, p.every_seconds, p.starts_at, p.timezone,
  p.misfire, p.catch_up_max, p.overlap, p.paused, p.next_at, ${OPEN} as open,
  (select count(*)::int from schedule_runs q where q.schedule_id = p.id and q.outcome = 'queued') as queued,
  (select min(q.planned_at) from schedule_runs q where q.schedule_id = p.id and q.outcome = 'queued') as queued_at,
  muster_now() as now`;
/** Whoever sees a part sees the schedules of items in it; those that make roots are for who sees all. */
const VISIBLE = (scope: string): string =>
  `(${scope}::uuid[] is null or exists (select 1 from item_state s where s.item_id = p.item_id
     and (s.item_id = any(${scope}) or s.ancestors && ${scope})))`;

export interface NewSchedule extends Pick<
  ScheduleRow,
  | "id"
  | "name"
  | "item_id"
  | "action"
  | "template"
  | "cron"
  | "every_seconds"
  | "timezone"
  | "misfire"
  | "overlap"
> {
  readonly startsAt: number;
  readonly catchUpMax: number;
  readonly nextAt: number | null;
}

const insert = statement<never>(
  "schedules_insert",
  `insert into schedules (id, name, item_id, action, template, cron, every_seconds, starts_at, timezone, misfire,
     catch_up_max, overlap, next_at, created_by, actor, verification)
   values ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15::jsonb, $16::jsonb)`,
);

export async function insertSchedule(handle: Handle, one: NewSchedule, author: Author): Promise<void> {
  const next = one.nextAt === null ? null : new Date(one.nextAt);
  await insert(handle, [
    one.id,
    one.name,
    one.item_id,
    one.action,
    JSON.stringify(one.template),
    one.cron,
    one.every_seconds,
    new Date(one.startsAt),
    one.timezone,
    one.misfire,
    one.catchUpMax,
    one.overlap,
    next,
    ...authorValues(author),
  ]);
}

const find = statement<ScheduleRow>(
  "schedules_find",
  `select ${COLUMNS} from schedules p where p.id = $1 and ${VISIBLE("$2")}`,
);

export async function findSchedule(handle: Handle, id: string, scope: Scope): Promise<ScheduleRow | null> {
  const [row] = await find(handle, [id, scope]);
  return row ?? null;
}

const lock = statement<{ id: string }>("schedules_lock", `select id from schedules where id = $1 for update`);
const tryLock = statement<{ id: string }>(
  "schedules_try_lock",
  `select id from schedules where id = $1 for update skip locked`,
);

/** Locks it and reads it after that: what another scheduler has just done is in what is read. */
export async function lockSchedule(handle: Handle, id: string, scope: Scope): Promise<ScheduleRow | null> {
  return (await lock(handle, [id])).length === 0 ? null : await findSchedule(handle, id, scope);
}

/** The same, or null while another scheduler is at it. */
export async function tryLockSchedule(handle: Handle, id: string): Promise<ScheduleRow | null> {
  return (await tryLock(handle, [id])).length === 0 ? null : await findSchedule(handle, id, null);
}

const page = statement<ScheduleRow>(
  "schedules_page",
  `select ${COLUMNS} from schedules p where ($1::uuid is null or p.item_id = $1) and ${VISIBLE("$2")}
   order by p.created_at, p.id limit $3 offset $4`,
);

export async function listSchedules(
  handle: Handle,
  itemId: string | null,
  scope: Scope,
  limit: number,
  offset: number,
): Promise<ScheduleRow[]> {
  return await page(handle, [itemId, scope, limit, offset]);
}

const setNext = statement<never>(
  "schedules_set_next",
  `update schedules set next_at = $2, paused = $3, updated_at = muster_now() where id = $1`,
);

/** When it runs next; null: it does not. */
export async function setNextAt(
  handle: Handle,
  id: string,
  nextAt: number | null,
  paused: boolean,
): Promise<void> {
  await setNext(handle, [id, nextAt === null ? null : new Date(nextAt), paused]);
}

const remove = statement<never>("schedules_delete", `delete from schedules where id = $1`);

export async function deleteSchedule(handle: Handle, id: string): Promise<void> {
  await remove(handle, [id]);
}

// Those on deleted items are no candidates; what waits for its turn is one when the turn has come.
const due = statement<{ id: string }>(
  "schedules_due",
  `select p.id from (
     (select p.id, p.item_id, p.next_at as at from schedules p where p.next_at <= muster_now() and not p.paused
       and (p.item_id is null or exists (select 1 from item_state s where s.item_id = p.item_id))
       order by p.next_at, p.id limit $1)
     union all
     (select p.id, p.item_id, q.at from schedules p
       join (select q.schedule_id, min(q.planned_at) as at from schedule_runs q where q.outcome = 'queued'
         group by q.schedule_id) q on q.schedule_id = p.id
       where not p.paused and not ${OPEN}
       order by q.at, p.id limit $1)
   ) p group by p.id order by min(p.at), p.id`,
);

export async function findDueSchedules(handle: Handle, limit: number): Promise<string[]> {
  return (await due(handle, [limit])).map((row) => row.id);
}
