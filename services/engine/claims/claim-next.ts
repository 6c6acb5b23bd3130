/**
 * The claim that `advance_item` carries with its last transition. A selector travels in the
 * flush of that transition, so that finishing one item and holding the next is one commit;
 * what finds nothing there, and what names an item, goes the way of every other claim.
 */
import type { IdempotencyRecord } from "../../../db/stores/idempotency-store.ts";
import type { ClaimEntry, ClaimResult } from "../../contract/claiming.ts";
import type { AdvanceItemInput } from "../../contract/operations/advance-item.ts";
import { isMusterError } from "../../contract/errors.ts";
import type { Caller } from "../engine.ts";
import { identify, mintSession } from "../identity.ts";
import type { ClaimCall, ClaimOutcome } from "./claim-call.ts";
import { claimEntry, type ClaimContext, type ClaimServices, toCall } from "./claim-item.ts";
import { conclude, emptyKey } from "./claim-one.ts";
import { withBrief } from "../context/with-brief.ts";

export interface ClaimedNext {
  readonly result: ClaimResult;
  readonly workerId: string;
}

/** One `claimNext`, with whoever asks for it. */
export interface NextClaim {
  /** The call to send along with the last transition, or null if it has to go by itself. */
  prepare(): Promise<ClaimCall | null>;
  /** The result of a call that was sent along; of one that found nothing, the result of looking again. */
  finish(call: ClaimCall, outcome: ClaimOutcome): Promise<ClaimedNext>;
  /** Claims by itself. */
  run(): Promise<ClaimedNext>;
}

export type ClaimNext = (
  entry: ClaimEntry,
  input: AdvanceItemInput,
  caller: Caller,
  record: IdempotencyRecord | null,
) => NextClaim;

export function createClaimNext(services: ClaimServices): ClaimNext {
  const { deps, state } = services;
  return (entry, input, caller, record) => {
    const context = contextOf(input, caller, record);
    const { session } = context;
    const run = async (): Promise<ClaimedNext> => {
      const claimed = await claimEntry(services, entry, context);
      return { result: claimed.result, workerId: claimed.session };
    };
    return {
      run,
      async prepare() {
        if (entry.itemId !== undefined) return null;
        try {
          const call = await toCall(deps, entry, context, session);
          if (call.target.kind !== "selector") return null;
          // Known to be empty a moment ago: not worth a look that locks.
          return state.empties.find(emptyKey(call, call.target.predicate)) === undefined ? call : null;
        } catch (error) {
          // What is wrong with the entry is its own result, which comes after the transitions.
          if (isMusterError(error)) return null;
          throw error;
        }
      },
      async finish(call, outcome) {
        if (outcome.kind === "empty") return await run();
        const claimed = await conclude(deps, state, call, outcome);
        return { result: await withBrief(deps, entry, claimed.result), workerId: claimed.session };
      },
    };
  };
}

function contextOf(
  input: AdvanceItemInput,
  caller: Caller,
  record: IdempotencyRecord | null,
): ClaimContext & { readonly session: string } {
  const actor = input.actor ?? input.transitions[0]?.actor;
  if (actor === undefined || input.requestId === undefined)
    throw new Error("the contract lets no claimNext through without");
  const stated = identify(actor, input.workerId ?? input.transitions[0]?.workerId, caller);
  const session = stated.session ?? mintSession();
  return {
    who: { ...stated, session, author: { ...stated.author, session } },
    caller,
    record,
    capabilities: input.capabilities ?? [],
    waitSeconds: 0,
    session,
  };
}
