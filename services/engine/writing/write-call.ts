/**
 * One call of a mutating tool whose elements succeed or fail by themselves: who makes it,
 * and what happens when it is repeated.
 *
 * All elements carry the fingerprint of the whole call. A requestId that was used for
 * another call is refused before anything is done; one that was used for this call
 * replays the elements that were committed and does the others.
 */
import { type IdempotencyRecord, saveAnswers, takeKeys } from "../../../db/stores/idempotency-store.ts";
import { findOtherUse } from "../../../db/stores/request-store.ts";
import type { Handle } from "../../../db/statement.ts";
import type { Writer } from "../../core/writer.ts";
import type { Author } from "../../core/world.ts";
import type { CallRecord } from "../audit/call-record.ts";
import type { Caller } from "../engine.ts";
import { fingerprint, mismatch, principalOf, replayOf } from "../idempotency.ts";
import { identify, type StatedActor } from "../identity.ts";

export interface WriteCall {
  readonly agent: string | null;
  readonly session: string | null;
  readonly author: Author;
  readonly operation: string;
  readonly principal: string;
  readonly requestId: string | undefined;
  readonly fingerprint: string;
  /** The record of the call, written with what it does. */
  readonly audit: CallRecord | undefined;
}

export interface WriteInput {
  readonly actor?: StatedActor | undefined;
  readonly workerId?: string | undefined;
  readonly requestId?: string | undefined;
}

/** Describes a call. Whether its requestId was used for another one is found out when its keys are taken. */
export function describeCall(operation: string, input: WriteInput, caller: Caller): WriteCall {
  const who = identify(input.actor, input.workerId, caller);
  return {
    agent: who.agent,
    session: who.session,
    author: who.author,
    operation,
    principal: principalOf(caller, who.agent),
    requestId: input.requestId,
    // The actor is the principal, and a retry may come from another connection's session.
    fingerprint: fingerprint(operation, { ...input, actor: undefined, workerId: undefined }),
    audit: caller.record,
  };
}

/**
 * Describes a call of many elements that do not share a transaction, and looks beforehand.
 * @throws idempotency_mismatch if the requestId was used for another call.
 */
export async function openWriteCall(
  handle: Handle,
  operation: string,
  input: WriteInput,
  caller: Caller,
): Promise<WriteCall> {
  const call = describeCall(operation, input, caller);
  const { requestId } = call;
  if (requestId === undefined) return call;
  const other = await findOtherUse(handle, { ...call, requestId });
  if (other !== null) throw mismatch(requestId, operation, other);
  return call;
}

export function writerOf(call: WriteCall, fence: number | null = null): Writer {
  return { agent: call.agent, session: call.session, fence };
}

export function recordFor(call: WriteCall, element: string): IdempotencyRecord | null {
  const { requestId, principal, operation } = call;
  return requestId === undefined
    ? null
    : { principal, requestId, element, operation, fingerprint: call.fingerprint };
}

/** What an element did, as it is stored and replayed. */
export interface Done<A> {
  readonly answer: A;
  /** The item that the element is about: a replay is refused once it is gone. */
  readonly targetId: string | null;
}

export interface Answered<A> extends Done<A> {
  readonly replayed: boolean;
}

/**
 * Runs an element once in its own transaction, or answers as it was answered. Whatever
 * it throws rolls the key back with everything else, so that the same key may try again.
 */
export async function once<A extends Readonly<Record<string, unknown>>>(
  call: WriteCall,
  tx: Handle,
  element: string,
  work: () => Promise<Done<A>>,
): Promise<Answered<A>> {
  const answered = await onceUnrecorded(call, tx, element, work);
  await call.audit?.noteIn(tx);
  return answered;
}

async function onceUnrecorded<A extends Readonly<Record<string, unknown>>>(
  call: WriteCall,
  tx: Handle,
  element: string,
  work: () => Promise<Done<A>>,
): Promise<Answered<A>> {
  const record = recordFor(call, element);
  if (record === null) return { ...(await work()), replayed: false };
  const taken = await takeKeys(tx, [record]);
  if (taken.size === 0) {
    const stored = await replayOf(tx, record);
    // What was stored under this fingerprint is what this element answers.
    return { answer: stored.answer as A, targetId: stored.targetId, replayed: true };
  }
  const done = await work();
  await saveAnswers(tx, [{ ...record, answer: done.answer, targetId: done.targetId }]);
  return { ...done, replayed: false };
}
