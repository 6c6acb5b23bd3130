/**
 * Who repeats what. A key is (principal, requestId, element): the row is written in that
 * element's own transaction, so a crash between effect and answer replays the committed
 * answer from any replica.
 */
import { hash } from "node:crypto";
import { findAnswer, type IdempotencyRecord, type StoredAnswer } from "../../db/stores/idempotency-store.ts";
import { findOtherUse } from "../../db/stores/request-store.ts";
import type { Handle } from "../../db/statement.ts";
import { fault, type MusterError } from "../contract/errors.ts";
import type { Caller } from "./engine.ts";

/** The principal of a call: the credential with the stated name, else the name alone. */
export function principalOf(caller: Caller, agent: string | null): string {
  if (caller.credential === null) return agent ?? "";
  return agent === null ? caller.credential : `${caller.credential}/${agent}`;
}

/** What does not make another call: the key itself, and how long one waits. */
const IGNORED = new Set(["requestId", "waitSeconds"]);

/**
 * SHA-256 over the operation and the canonical input: keys sorted, absent and undefined alike.
 * Of an actor only the name counts: a retry may come with another proof, or with none.
 */
export function fingerprint(operation: string, input: object): string {
  const what = Object.fromEntries(Object.entries(input).filter(([key]) => !IGNORED.has(key)));
  return hash("sha256", `${operation}\0${canonical(what)}`);
}

function canonical(value: unknown): string {
  if (value instanceof Date) return JSON.stringify(value.toISOString());
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value)
      .filter(([, entry]) => entry !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonical(key === "actor" ? nameOf(entry) : entry)}`).join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}

function nameOf(actor: unknown): unknown {
  return typeof actor === "object" && actor !== null && "id" in actor ? actor.id : actor;
}

/**
 * The answer that a used key stands for.
 * @throws idempotency_mismatch if it was used for something else.
 */
export async function replayOf(handle: Handle, record: IdempotencyRecord): Promise<StoredAnswer> {
  const stored = await findAnswer(handle, record);
  if (stored === null) {
    const other = await findOtherUse(handle, record);
    if (other !== null) throw mismatch(record.requestId, record.operation, other);
    throw fault(
      "idempotency_in_flight",
      "the answer to this requestId has just been swept away; use a new one",
    );
  }
  if (stored.operation !== record.operation || stored.fingerprint !== record.fingerprint) {
    throw mismatch(record.requestId, record.operation, stored.operation);
  }
  return stored;
}

export function mismatch(requestId: string, operation: string, usedFor: string): MusterError {
  const use = usedFor === operation ? "this operation with another input" : usedFor;
  return fault("idempotency_mismatch", `requestId ${requestId} was already used for ${use}`);
}
