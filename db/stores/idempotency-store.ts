/** One row per element of a mutating call, written in that element's own transaction. */
import { type Handle, statement } from "../statement.ts";

export interface IdempotencyKey {
  readonly principal: string;
  readonly requestId: string;
  readonly element: string;
}

export interface IdempotencyRecord extends IdempotencyKey {
  readonly operation: string;
  readonly fingerprint: string;
}

interface KeyRow {
  principal: string;
  key: string;
  element: string;
}

// Sorted, so that two transactions with the same keys queue up instead of deadlocking. A key that
// another transaction is just writing is waited for; then either it is there, or it is ours.
const insertKeys = statement<KeyRow>(
  "idempotency_insert",
  `insert into idempotency (principal, key, element, operation, fingerprint)
   select c.principal, c.key, c.element, c.operation, c.fingerprint
   from jsonb_to_recordset($1::jsonb) as c(principal text, key uuid, element text, operation text, fingerprint text)
   order by 1, 2, 3
   on conflict do nothing
   returning principal, key, element`,
);

/** Takes the keys. Those that are missing from the answer were used before. */
export async function takeKeys(
  handle: Handle,
  records: readonly IdempotencyRecord[],
): Promise<ReadonlySet<string>> {
  if (records.length === 0) return new Set();
  const rows = await insertKeys(handle, [JSON.stringify(records.map(toRow))]);
  return new Set(rows.map((row) => keyText({ principal: row.principal, requestId: row.key, element: row.element })));
}

/** One string for one key. */
export function keyText(key: IdempotencyKey): string {
  return `${key.requestId}/${key.element}/${key.principal}`;
}

const saveRows = statement<never>(
  "idempotency_save",
  `update idempotency i set answer = c.answer, target_id = c.target_id
   from jsonb_to_recordset($1::jsonb) as c(principal text, key uuid, element text, answer jsonb, target_id uuid)
   where i.principal = c.principal and i.key = c.key and i.element = c.element`,
);

export interface SavedAnswer extends IdempotencyKey {
  readonly answer: Readonly<Record<string, unknown>>;
  readonly targetId: string | null;
}

export async function saveAnswers(handle: Handle, answers: readonly SavedAnswer[]): Promise<void> {
  if (answers.length === 0) return;
  await saveRows(handle, [
    JSON.stringify(
      answers.map((one) => ({
        principal: one.principal,
        key: one.requestId,
        element: one.element,
        answer: one.answer,
        target_id: one.targetId,
      })),
    ),
  ]);
}

const dropRows = statement<never>(
  "idempotency_drop",
  `delete from idempotency i
   using jsonb_to_recordset($1::jsonb) as c(principal text, key uuid, element text)
   where i.principal = c.principal and i.key = c.key and i.element = c.element`,
);

/** Gives keys back: a refusal that depends on state is not stored, so that the same key may try again. */
export async function giveBackKeys(handle: Handle, keys: readonly IdempotencyKey[]): Promise<void> {
  if (keys.length === 0) return;
  await dropRows(handle, [
    JSON.stringify(keys.map((one) => ({ principal: one.principal, key: one.requestId, element: one.element }))),
  ]);
}

export interface StoredAnswer {
  readonly operation: string;
  readonly fingerprint: string;
  readonly answer: Record<string, unknown> | null;
  readonly targetId: string | null;
}

const findRow = statement<{
  operation: string;
  fingerprint: string;
  answer: Record<string, unknown> | null;
  target_id: string | null;
}>(
  "idempotency_find",
  `select operation, fingerprint, answer, target_id from idempotency
   where principal = $1 and key = $2 and element = $3`,
);

export async function findAnswer(handle: Handle, key: IdempotencyKey): Promise<StoredAnswer | null> {
  const [row] = await findRow(handle, [key.principal, key.requestId, key.element]);
  if (!row) return null;
  return { operation: row.operation, fingerprint: row.fingerprint, answer: row.answer, targetId: row.target_id };
}

function toRow(record: IdempotencyRecord): Record<string, unknown> {
  return {
    principal: record.principal,
    key: record.requestId,
    element: record.element,
    operation: record.operation,
    fingerprint: record.fingerprint,
  };
}
