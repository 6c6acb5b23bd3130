/** Runs a call and sees to its row: for everything that changes something, and for every refusal. */
import { isMusterError, type MusterError } from "../../contract/errors.ts";
import type { Operation } from "../../contract/operation.ts";
import type { Caller } from "../engine.ts";
import type { AuditTrail } from "./audit-trail.ts";
import { isForWantOfRight, isQuiet, outcomeOf } from "./call-outcome.ts";
import { type CallOutcome, CallRecord } from "./call-record.ts";

interface Call {
  readonly operation: Operation;
  readonly input: unknown;
  readonly caller: Caller;
}

type Answer = Record<string, unknown>;

export async function audited(
  trail: AuditTrail,
  { operation, input, caller }: Call,
  run: (recorded: Caller) => Promise<Answer>,
): Promise<Answer> {
  const changes = !operation.annotations.readOnlyHint;
  const record = changes ? new CallRecord(operation.name, input, caller) : null;
  const settle = (came: CallOutcome): void => {
    if (isQuiet(operation.name, input, came)) return;
    if (record !== null && !record.isSettledBy(came)) trail.add(record.row(came));
  };
  try {
    const output = await run(record === null ? caller : withRecord(caller, record));
    settle(outcomeOf(output));
    return output;
  } catch (error) {
    const came = cameTo(error);
    if (record !== null) settle(came);
    // Of reads, only those are on record that somebody had no right to.
    else if (isForWantOfRight(came.code)) trail.add(new CallRecord(operation.name, input, caller).row(came));
    throw error;
  }
}

/** A refusal that a door made before any operation ran. */
export function noteRefusal(
  trail: AuditTrail,
  operation: string,
  caller: Pick<Caller, "credential" | "requestId" | "session">,
  error: MusterError,
): void {
  trail.add(new CallRecord(operation, {}, caller).row({ outcome: "refused", code: error.code }));
}

/** The caller's own signal is made when it is first asked for, so it must not be copied. */
function withRecord(caller: Caller, record: CallRecord): Caller {
  const { access, credential, session, client, requestId } = caller;
  return {
    access,
    credential,
    session,
    client,
    requestId,
    get signal() {
      return caller.signal;
    },
    record,
  };
}

function cameTo(error: unknown): CallOutcome {
  if (!isMusterError(error)) return { outcome: "failed", code: "INTERNAL_ERROR" };
  const isOurs =
    error.code === "INTERNAL_ERROR" || error.code === "OPERATION_FAILED" || error.kind === "transient";
  return { outcome: isOurs ? "failed" : "refused", code: error.code };
}
