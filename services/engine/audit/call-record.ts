/**
 * The record of one call that changes something. It is written in a transaction of what the call
 * does, so that no change is without it; what came of the call as a whole is settled afterwards
 * where it was anything but a success. Arguments are not kept: a hash tells whether two calls
 * were the same.
 */
import { randomUUID } from "node:crypto";
import { type CallRow, noteCalls } from "../../../db/stores/call-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { isFullId } from "../../contract/fields.ts";
import type { Caller } from "../engine.ts";
import { fingerprint } from "../idempotency.ts";
import { actorsOf } from "../actors/actors-of-input.ts";

/** What came of it; the code is that of the first thing that was refused. */
export interface CallOutcome {
  readonly outcome: CallRow["outcome"];
  readonly code: string | null;
}

const OK: CallOutcome = { outcome: "ok", code: null };

type RecordedCaller = Pick<Caller, "credential" | "requestId" | "session">;
type Facts = Omit<CallRow, "outcome" | "error_code" | "latency_ms">;

export class CallRecord {
  readonly #make: () => Facts;
  readonly #beganAt = performance.now();
  #facts: Facts | null = null;

  constructor(operation: string, input: unknown, caller: RecordedCaller) {
    // Worked out when it is written: heartbeats, which are most of all calls, never are.
    this.#make = () => factsOf(operation, input, caller);
  }

  /** The call's row, for whoever writes the rows of several calls together. */
  row({ outcome, code }: CallOutcome = OK): CallRow {
    this.#facts ??= this.#make();
    const latency = Math.round(performance.now() - this.#beganAt);
    return { ...this.#facts, outcome, error_code: code, latency_ms: latency };
  }

  /** Writes the row with what the call does. A transaction that is tried again writes it again. */
  async noteIn(tx: Handle): Promise<void> {
    await noteCalls(tx, [this.row()]);
  }

  /** Whether a success needs no further word: a transaction that was committed has the row. */
  isSettledBy({ outcome }: CallOutcome): boolean {
    return outcome === "ok" && this.#facts !== null;
  }
}

function factsOf(operation: string, input: unknown, caller: RecordedCaller): Facts {
  const fields = (typeof input === "object" && input !== null ? input : {}) as Record<string, unknown>;
  const [actor] = actorsOf(input);
  const target = targetOf(fields);
  const workerId = fields["workerId"];
  return {
    call_id: randomUUID(),
    credential: caller.credential,
    operation,
    args_sha256: fingerprint(operation, fields),
    request_id: caller.requestId,
    item_id: target !== null && isFullId(target) ? target : null,
    agent: actor?.id ?? null,
    session: typeof workerId === "string" ? workerId : caller.session,
    data: target === null ? {} : { target },
  };
}

/** Keys that name what a call is about, in the order in which they say most. */
const NAMES = ["itemId", "dependencyId", "tokenId", "key", "agent", "rootId", "id"] as const;

function targetOf(fields: Readonly<Record<string, unknown>>, depth = 0): string | null {
  for (const name of NAMES) {
    const value = fields[name];
    if (typeof value === "string") return value.slice(0, TARGET_LENGTH_MAX);
  }
  if (depth > 0) return null;
  for (const value of Object.values(fields)) {
    const first: unknown = Array.isArray(value) ? value[0] : undefined;
    if (typeof first === "string" && isFullId(first)) return first;
    if (typeof first !== "object" || first === null) continue;
    const found = targetOf(first as Record<string, unknown>, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

const TARGET_LENGTH_MAX = 200;
