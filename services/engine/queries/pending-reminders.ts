/** Reminders that have fired, for whoever asks what to do next. */
import { type HeadRow, readHeads } from "../../../db/stores/item-read-store.ts";
import type { CandidateQuery } from "../../../db/stores/next-store.ts";
import { findPending } from "../../../db/stores/pending-reminder-store.ts";
import type { Handle } from "../../../db/statement.ts";
import type { ReminderHead } from "../../contract/reminders.ts";
import type { Caller } from "../engine.ts";
import { addressee } from "../reminders/reminder-answers.ts";

export interface PendingReminder {
  readonly head: HeadRow;
  readonly reminder: ReminderHead;
}

/** Those addressed to the asker or to nobody, on items that match, the one that fired first at the head. */
export async function readPending(
  handle: Handle,
  { filter, asker, limit }: CandidateQuery,
  { access }: Caller,
): Promise<PendingReminder[]> {
  const rows = await findPending(handle, { filter, asker, scope: access.scope }, limit);
  const heads = await readHeads(
    handle,
    rows.map((row) => row.item_id),
  );
  return rows.flatMap((row) => {
    const head = heads.get(row.item_id);
    const reminder = { reminderId: row.id, ...addressee(row), firedAt: row.fired_at.toISOString() };
    return head === undefined ? [] : [{ head, reminder }];
  });
}
