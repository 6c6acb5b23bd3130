/** Reminders as answers show them. */
import type { ReminderRow } from "../../../db/stores/reminder-store.ts";
import type { ReminderAnswer, ReminderHead } from "../../contract/reminders.ts";
import { stateOf } from "../../core/wake-ups/reminder.ts";

export function toReminderAnswer(row: ReminderRow): ReminderAnswer {
  const state = stateOf({
    firedAt: row.fired_at?.getTime() ?? null,
    ackedAt: row.acked_at?.getTime() ?? null,
  });
  return {
    reminderId: row.id,
    itemId: row.item_id,
    title: row.title,
    state,
    remindAt: row.remind_at.toISOString(),
    ...addressee(row),
    ...(row.fired_at === null ? {} : { firedAt: row.fired_at.toISOString() }),
    ...(row.acked_at === null ? {} : { ackedAt: row.acked_at.toISOString() }),
    ...(row.acked_by === null ? {} : { ackedBy: row.acked_by }),
    ...(row.schedule_id === null ? {} : { scheduleId: row.schedule_id }),
  };
}

/** What is said to whom. */
export function addressee(
  row: Pick<ReminderRow, "note" | "to_agent" | "to_capability">,
): Pick<ReminderHead, "note" | "toAgent" | "toCapability"> {
  return {
    ...(row.note === null ? {} : { note: row.note }),
    ...(row.to_agent === null ? {} : { toAgent: row.to_agent }),
    ...(row.to_capability === null ? {} : { toCapability: row.to_capability }),
  };
}
