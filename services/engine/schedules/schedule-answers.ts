/** Schedules and their runs as answers show them. */
import type { RunRow } from "../../../db/stores/schedule-run-store.ts";
import type { ScheduleRow } from "../../../db/stores/schedule-store.ts";
import type { ScheduleAnswer, ScheduleRun } from "../../contract/operations/manage-schedules.ts";

export function toScheduleAnswer(row: ScheduleRow): ScheduleAnswer {
  return {
    scheduleId: row.id,
    name: row.name,
    action: row.action,
    ...(row.item_id === null ? {} : { itemId: row.item_id }),
    template: row.template,
    ...(row.cron === null ? {} : { cron: row.cron }),
    ...(row.every_seconds === null ? {} : { everySeconds: row.every_seconds }),
    startsAt: row.starts_at.toISOString(),
    timezone: row.timezone,
    misfire: row.misfire,
    ...(row.misfire === "catch_up" ? { catchUpMax: row.catch_up_max } : {}),
    overlap: row.overlap,
    paused: row.paused,
    ...(row.next_at === null ? {} : { nextAt: row.next_at.toISOString() }),
  };
}

export function toRunAnswer(row: RunRow): ScheduleRun {
  return {
    plannedAt: row.planned_at.toISOString(),
    outcome: row.outcome,
    ...(row.manual ? { manual: true } : {}),
    ...(row.detail === null ? {} : { detail: row.detail }),
    ...(row.item_id === null ? {} : { itemId: row.item_id }),
    ...(row.reminder_id === null ? {} : { reminderId: row.reminder_id }),
    ranAt: row.ran_at.toISOString(),
  };
}
