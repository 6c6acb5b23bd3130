/**
 * What a scheduler's loop calls: fires the reminders whose instant has come, and takes each
 * schedule that is due one step further. Any number of schedulers may do so at once; a row is
 * won by the transaction that changes it.
 */
import { fireReminders } from "../../../db/stores/reminder-store.ts";
import { findDueSchedules } from "../../../db/stores/schedule-store.ts";
import type { EngineDeps } from "../deps.ts";
import type { FireReport } from "../engine.ts";
import { fireSchedule } from "../schedules/fire-schedule.ts";

/** Small enough for a loop that others wait behind. */
const REMINDERS_BATCH = 100;
const SCHEDULES_BATCH = 20;

export async function fireDue(deps: EngineDeps, signal: AbortSignal): Promise<FireReport> {
  if (signal.aborted) return { reminders: 0, schedules: 0, more: false };
  let schedules = 0;
  for (const id of await findDueSchedules(deps.db, SCHEDULES_BATCH)) {
    if (signal.aborted) break;
    try {
      if (await fireSchedule(deps, id)) schedules += 1;
    } catch (error) {
      // One that fails keeps no other waiting; it is due still, and tried with the next look.
      deps.log.warn({ err: error, scheduleId: id }, "a schedule could not be fired, trying again");
    }
  }
  // After them: what a schedule reminds of is due now.
  const reminders = await fireReminders(deps.db, REMINDERS_BATCH);
  return { reminders, schedules, more: reminders === REMINDERS_BATCH || schedules > 0 };
}
