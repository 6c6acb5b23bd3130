/** Reminders. One whose item is deleted is not there, until the item is. */
import type { Author } from "../../services/core/world.ts";
import type { Role } from "../../services/core/roles.ts";
import { type Handle, statement } from "../statement.ts";
import { authorValues } from "./author-columns.ts";

export interface ReminderRow {
  id: string;
  item_id: string;
  title: string;
  role: Role;
  remind_at: Date;
  note: string | null;
  to_agent: string | null;
  to_capability: string | null;
  fired_at: Date | null;
  acked_at: Date | null;
  acked_by: string | null;
  schedule_id: string | null;
  now: Date;
}

export interface NewReminder {
  readonly id: string;
  readonly itemId: string;
  readonly remindAt: number;
  readonly note: string | null;
  readonly toAgent: string | null;
  readonly toCapability: string | null;
  readonly scheduleId: string | null;
}

/** Ids of the items whose subtrees are seen; null: all. */
type Scope = readonly string[] | null;

const COLUMNS = `r.id, r.item_id, i.title, s.role, r.remind_at, r.note, r.to_agent, r.to_capability,
  r.fired_at, r.acked_at, r.acked_by, r.schedule_id, muster_now() as now`;
const VISIBLE = (scope: string): string =>
  `(${scope}::uuid[] is null or s.item_id = any(${scope}) or s.ancestors && ${scope})`;

const insert = statement<{ id: string }>(
  "reminders_insert",
  `insert into reminders (id, item_id, remind_at, note, to_agent, to_capability, schedule_id, created_by, actor, verification)
   select $1, s.item_id, $3, $4, $5, $6, $7, $8, $9::jsonb, $10::jsonb
   from item_state s where s.item_id = $2 and ${VISIBLE("$11")} for key share
   returning id`,
);

/** False: there is no such item, or none that the scope shows. */
export async function insertReminder(
  handle: Handle,
  one: NewReminder,
  author: Author,
  scope: Scope,
): Promise<boolean> {
  const { id, itemId, note, toAgent, toCapability, scheduleId } = one;
  const at = new Date(one.remindAt);
  const by = authorValues(author);
  const rows = await insert(handle, [id, itemId, at, note, toAgent, toCapability, scheduleId, ...by, scope]);
  return rows.length > 0;
}

const find = statement<ReminderRow>(
  "reminders_find",
  `select ${COLUMNS} from reminders r join item_state s on s.item_id = r.item_id join items i on i.id = r.item_id
   where r.id = $1 and ${VISIBLE("$2")} for update of r`,
);

/** Locks it: between this and the write nobody fires it. */
export async function lockReminder(handle: Handle, id: string, scope: Scope): Promise<ReminderRow | null> {
  const [row] = await find(handle, [id, scope]);
  return row ?? null;
}

const save = statement<never>(
  "reminders_save",
  `update reminders set remind_at = $2, fired_at = $3, acked_at = $4, acked_by = $5, updated_at = muster_now()
   where id = $1`,
);

export async function saveReminder(
  handle: Handle,
  id: string,
  times: { readonly remindAt: number; readonly firedAt: number | null; readonly ackedAt: number | null },
  ackedBy: string | null,
): Promise<void> {
  const at = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));
  await save(handle, [id, at(times.remindAt), at(times.firedAt), at(times.ackedAt), ackedBy]);
}

const remove = statement<never>("reminders_delete", `delete from reminders where id = $1`);

export async function deleteReminder(handle: Handle, id: string): Promise<void> {
  await remove(handle, [id]);
}

export interface ReminderFilter {
  readonly itemId: string | null;
  readonly toAgent: string | null;
  readonly toCapability: string | null;
  readonly state: "armed" | "fired" | "acknowledged" | null;
  readonly scope: Scope;
}

const page = statement<ReminderRow>(
  "reminders_page",
  `select ${COLUMNS} from reminders r join item_state s on s.item_id = r.item_id join items i on i.id = r.item_id
   where ($1::uuid is null or r.item_id = $1) and ($2::text is null or r.to_agent = $2)
     and ($3::text is null or r.to_capability = $3)
     and ($4::text is null or $4 = case when r.acked_at is not null then 'acknowledged'
       when r.fired_at is not null then 'fired' else 'armed' end)
     and ${VISIBLE("$5")}
   order by r.remind_at, r.id limit $6 offset $7`,
);

/** Those that come first at the head, those that are past among them. */
export async function listReminders(
  handle: Handle,
  { itemId, toAgent, toCapability, state, scope }: ReminderFilter,
  limit: number,
  offset: number,
): Promise<ReminderRow[]> {
  return await page(handle, [itemId, toAgent, toCapability, state, scope, limit, offset]);
}

// The rows are locked one by one and looked at again: one that was armed anew meanwhile does not fire for
// its old instant, and one that another scheduler is at is left to it. Those of deleted items are not
// candidates, or they would fill the batch for ever. Its event is written by the statement that fires it.
const fire = statement<{ fired: number }>(
  "reminders_fire",
  `with due as materialized (
     select r.id from reminders r
     where r.fired_at is null and r.remind_at <= muster_now()
       and exists (select 1 from item_state s where s.item_id = r.item_id)
     order by r.remind_at, r.id limit $1 for update skip locked
   ), fired as (
     update reminders r set fired_at = muster_now(), updated_at = muster_now() from due
     where r.id = due.id and r.fired_at is null and r.remind_at <= muster_now()
     returning r.*
   ), told as (
     insert into events (type, item_id, root_id, data)
     select 'item.reminder_due', f.item_id, s.root_id, jsonb_strip_nulls(jsonb_build_object('reminderId', f.id,
       'remindAt', to_char(f.remind_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'note', f.note,
       'toAgent', f.to_agent, 'toCapability', f.to_capability, 'scheduleId', f.schedule_id))
     from fired f join item_state s on s.item_id = f.item_id order by f.remind_at, f.id
   )
   select count(*)::int as fired from fired`,
);

/** Fires what is due, the oldest first, at most so many. Returns how many. */
export async function fireReminders(handle: Handle, limit: number): Promise<number> {
  const [row] = await fire(handle, [limit]);
  return row?.fired ?? 0;
}
