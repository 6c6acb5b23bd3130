/**
 * One row per element of a mutating call, written in that element's own transaction and
 * at its end, with the answer. Until then the key is held by an advisory lock: a second
 * call with the same key waits for the first one's commit and then finds its row. A call
 * that is refused writes nothing, so the same key may try again.
 */
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

export interface UsedKey {
  readonly principal: string;
  readonly key: string;
  readonly element: string;
}

const take = statement<UsedKey>(
  "idempotency_take",
  `select principal, key, element from muster_take_keys($1::jsonb, $2::int)`,
);

/**
 * Takes the keys for this transaction. Those that are missing from the answer were used
 * before: for this element, or by another call.
 * @param lockTimeoutMs from here on, how long this transaction waits for a lock, if not the connection's own time
 * @throws an error that `isKeyBusy` knows if a key is held elsewhere for longer than that
 */
export async function takeKeys(
  handle: Handle,
  records: readonly IdempotencyRecord[],
  lockTimeoutMs?: number,
): Promise<ReadonlySet<string>> {
  if (records.length === 0 && lockTimeoutMs === undefined) return new Set();
  return unusedKeys(records, await take(handle, [toWantedKeys(records), lockTimeoutMs ?? null]));
}

/** The keys as `muster_take_keys` reads them. */
export function toWantedKeys(records: readonly IdempotencyRecord[]): string {
  return JSON.stringify(records.map(({ requestId: key, ...record }) => ({ ...record, key })));
}

/** What is left of the keys when the used ones are taken out. */
export function unusedKeys(
  records: readonly IdempotencyRecord[],
  used: readonly UsedKey[],
): ReadonlySet<string> {
  const taken = new Set(records.map(keyText));
  for (const { principal, key, element } of used)
    taken.delete(keyText({ principal, requestId: key, element }));
  return taken;
}

/** One string for one key. */
export function keyText(key: IdempotencyKey): string {
  return `${key.requestId}/${key.element}/${key.principal}`;
}

const save = statement<never>(
  "idempotency_save",
  `insert into idempotency (principal, key, element, operation, fingerprint, answer, target_id, created_at)
   select c.principal, c.key, c.element, c.operation, c.fingerprint, c.answer, c.target_id, muster_now()
   from jsonb_to_recordset($1::jsonb) as c(principal text, key uuid, element text, operation text, fingerprint text,
     answer json, target_id uuid)`,
);

export interface SavedAnswer extends IdempotencyRecord {
  readonly answer: Readonly<Record<string, unknown>>;
  readonly targetId: string | null;
}

/** Stores answers under keys that this transaction has taken. */
export async function saveAnswers(handle: Handle, answers: readonly SavedAnswer[]): Promise<void> {
  if (answers.length === 0) return;
  await save(handle, [JSON.stringify(answers.map(toAnswerRecord))]);
}

/** The row of an answer, as the statements that store answers read it. */
export function toAnswerRecord(one: SavedAnswer): Record<string, unknown> {
  return {
    principal: one.principal,
    key: one.requestId,
    element: one.element,
    operation: one.operation,
    fingerprint: one.fingerprint,
    answer: one.answer,
    target_id: one.targetId,
  };
}

export interface StoredAnswer {
  readonly operation: string;
  readonly fingerprint: string;
  readonly answer: Record<string, unknown>;
  readonly targetId: string | null;
}

const find = statement<{
  operation: string;
  fingerprint: string;
  answer: Record<string, unknown>;
  target_id: string | null;
}>(
  "idempotency_find",
  `select operation, fingerprint, answer, target_id from idempotency
   where principal = $1 and key = $2 and element = $3`,
);

export async function findAnswer(handle: Handle, key: IdempotencyKey): Promise<StoredAnswer | null> {
  const [row] = await find(handle, [key.principal, key.requestId, key.element]);
  if (!row) return null;
  return {
    operation: row.operation,
    fingerprint: row.fingerprint,
    answer: row.answer,
    targetId: row.target_id,
  };
}
