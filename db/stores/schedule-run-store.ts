/** Runs of schedules: one row per planned instant, whoever stores it. */
import { type Handle, statement } from "../statement.ts";

export type RunOutcome = "queued" | "fired" | "skipped" | "failed";

export interface RunRow {
  planned_at: Date;
  manual: boolean;
  outcome: RunOutcome;
  detail: string | null;
  item_id: string | null;
  reminder_id: string | null;
  ran_at: Date;
}

export interface NewRun {
  readonly scheduleId: string;
  readonly plannedAt: number;
  readonly manual: boolean;
  readonly outcome: RunOutcome;
  readonly detail: string | null;
  readonly itemId: string | null;
  readonly reminderId: string | null;
}

// One that waited gets its outcome; any other that is there already stays, and nothing comes back. What
// happened is told by the same statement.
const insert = statement<RunRow>(
  "schedule_runs_insert",
  `with run as (
     insert into schedule_runs (schedule_id, planned_at, manual, outcome, detail, item_id, reminder_id)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (schedule_id, planned_at) do update set outcome = excluded.outcome, detail = excluded.detail,
       item_id = excluded.item_id, reminder_id = excluded.reminder_id, ran_at = excluded.ran_at
     where schedule_runs.outcome = 'queued' and excluded.outcome <> 'queued'
     returning *
   ), told as (
     insert into events (type, item_id, root_id, data)
     select 'schedule.' || run.outcome, s.item_id, s.root_id, jsonb_strip_nulls(jsonb_build_object(
       'scheduleId', run.schedule_id, 'name', p.name,
       'plannedAt', to_char(run.planned_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
       'manual', nullif(run.manual, false), 'detail', run.detail, 'reminderId', run.reminder_id))
     from run join schedules p on p.id = run.schedule_id
     left join item_state s on s.item_id = coalesce(run.item_id, p.item_id)
   )
   select planned_at, manual, outcome, detail, item_id, reminder_id, ran_at from run`,
);

/** Null: this instant has had its run. */
export async function insertRun(handle: Handle, run: NewRun): Promise<RunRow | null> {
  const { scheduleId, plannedAt, manual, outcome, detail, itemId, reminderId } = run;
  const values = [scheduleId, new Date(plannedAt), manual, outcome, detail, itemId, reminderId];
  const [row] = await insert(handle, values);
  return row ?? null;
}

const page = statement<RunRow>(
  "schedule_runs_page",
  `select planned_at, manual, outcome, detail, item_id, reminder_id, ran_at from schedule_runs
   where schedule_id = $1 order by planned_at desc limit $2 offset $3`,
);

/** The latest first. */
export async function listRuns(handle: Handle, id: string, limit: number, offset: number): Promise<RunRow[]> {
  return await page(handle, [id, limit, offset]);
}
