/**
 * `manage_reminders`. Every change locks the row that it judges, so that it and a scheduler that
 * is about to fire the same reminder come one after the other.
 */
import { randomUUID } from "node:crypto";
import {
  deleteReminder,
  insertReminder,
  listReminders,
  lockReminder,
  type ReminderRow,
  saveReminder,
} from "../../../db/stores/reminder-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault, type MusterError } from "../../contract/errors.ts";
import type {
  ArmReminder,
  ChangedReminderOutput,
  ChangeReminder,
  ListReminders,
  ListRemindersOutput,
  ManageRemindersInput,
  ManageRemindersOutput,
} from "../../contract/operations/manage-reminders.ts";
import type { ReminderAnswer } from "../../contract/reminders.ts";
import { acknowledge, rearm, type ReminderTimes, snooze, upToSecond } from "../../core/wake-ups/reminder.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { fitPage } from "../queries/fit-page.ts";
import { requireItem } from "../resolve-items.ts";
import { transact } from "../writing/transact.ts";
import { type Answered, describeCall, once, type WriteCall } from "../writing/write-call.ts";
import { toReminderAnswer } from "./reminder-answers.ts";

export async function manageReminders(
  deps: EngineDeps,
  input: ManageRemindersInput,
  caller: Caller,
): Promise<ManageRemindersOutput> {
  if (input.operation === "list") return await listPage(deps, input, caller);
  const call = describeCall("manage_reminders", input, caller);
  const { scope } = caller.access;
  const { answer, replayed } =
    input.operation === "arm" ? await arm(deps, call, input, caller) : await change(deps, call, input, scope);
  return { ...answer, ...(replayed ? { replayed } : {}) };
}

type Changed = Omit<ChangedReminderOutput, "replayed">;

async function arm(
  deps: EngineDeps,
  call: WriteCall,
  input: ArmReminder,
  caller: Caller,
): Promise<Answered<Changed>> {
  const itemId = await requireItem(deps.db, input.itemId, caller);
  const { scope } = caller.access;
  const id = randomUUID();
  return await transact(deps, (tx) =>
    once<Changed>(call, tx, "all", async () => {
      const { note = null, toAgent = null, toCapability = null } = input;
      const remindAt = upToSecond(input.remindAt.getTime());
      const made = { id, itemId, remindAt, note, toAgent, toCapability, scheduleId: null };
      if (!(await insertReminder(tx, made, call.author, scope)))
        throw fault("RESOURCE_NOT_FOUND", `there is no item ${itemId}`);
      return { answer: toReminderAnswer(await requireReminder(tx, id, scope)), targetId: itemId };
    }),
  );
}

async function change(
  deps: EngineDeps,
  call: WriteCall,
  input: ChangeReminder,
  scope: readonly string[] | null,
): Promise<Answered<Changed>> {
  return await transact(deps, (tx) =>
    once<Changed>(call, tx, "all", async () => {
      const row = await requireReminder(tx, input.reminderId, scope);
      const done = (answer: Changed) => ({ answer, targetId: row.item_id });
      if (input.operation === "disarm") {
        await deleteReminder(tx, row.id);
        return done({ ...toReminderAnswer(row), disarmed: true });
      }
      const times = judge(row, input);
      if (times === null) return done(toReminderAnswer(row));
      await saveReminder(tx, row.id, times, times.ackedAt === null ? null : call.agent);
      return done(await readAnswer(tx, row.id, scope));
    }),
  );
}

/** Null: nothing changes. @throws reminder_not_fired */
function judge(row: ReminderRow, input: ChangeReminder): ReminderTimes | null {
  const now = row.now.getTime();
  switch (input.operation) {
    case "rearm":
      return rearm(input.remindAt.getTime());
    case "snooze":
      return snooze(input.forSeconds, now);
    default: {
      const verdict = acknowledge(timesOf(row), now);
      if (verdict.kind === "not_fired") {
        const due = row.remind_at.toISOString();
        throw fault("reminder_not_fired", `reminder ${row.id} is armed for ${due} and has not fired`);
      }
      return verdict.kind === "acknowledged" ? verdict.times : null;
    }
  }
}

function timesOf(row: ReminderRow): ReminderTimes {
  return {
    remindAt: row.remind_at.getTime(),
    firedAt: row.fired_at?.getTime() ?? null,
    ackedAt: row.acked_at?.getTime() ?? null,
  };
}

async function requireReminder(
  tx: Handle,
  id: string,
  scope: readonly string[] | null,
): Promise<ReminderRow> {
  const row = await lockReminder(tx, id, scope);
  if (row === null) throw noSuchReminder(id);
  return row;
}

async function readAnswer(tx: Handle, id: string, scope: readonly string[] | null): Promise<ReminderAnswer> {
  return toReminderAnswer(await requireReminder(tx, id, scope));
}

/** The same for one that is not there and for one of an item that the caller does not see. */
function noSuchReminder(id: string): MusterError {
  return fault("not_found", `there is no reminder ${id}`, {
    hint: "List the reminders with manage_reminders, operation list; one that was disarmed is gone.",
  });
}

async function listPage(
  deps: EngineDeps,
  input: ListReminders,
  caller: Caller,
): Promise<ListRemindersOutput> {
  const { toAgent = null, toCapability = null, state = null, limit, offset } = input;
  const itemId = input.itemId === undefined ? null : await requireItem(deps.db, input.itemId, caller);
  const filter = { itemId, toAgent, toCapability, state, scope: caller.access.scope };
  const rows = await listReminders(deps.db, filter, limit + 1, offset);
  const reminders = fitPage(rows.slice(0, limit).map(toReminderAnswer));
  return { reminders, returned: reminders.length, hasMore: rows.length > reminders.length, offset };
}
