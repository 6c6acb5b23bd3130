/**
 * What a scheduler's loop calls: fires the reminders whose instant has come. Any number of
 * schedulers may do so at once; a row is won by the statement that changes it.
 */
import { fireReminders } from "../../../db/stores/reminder-store.ts";
import type { EngineDeps } from "../deps.ts";
import type { FireReport } from "../engine.ts";

/** Small enough for a loop that others wait behind. */
const REMINDERS_BATCH = 100;

export async function fireDue(deps: EngineDeps, signal: AbortSignal): Promise<FireReport> {
  if (signal.aborted) return { reminders: 0, more: false };
  const reminders = await fireReminders(deps.db, REMINDERS_BATCH);
  return { reminders, more: reminders === REMINDERS_BATCH };
}
