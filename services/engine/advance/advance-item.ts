/**
 * `advance_item`: transitions in order, each judged by itself, then perhaps the next
 * claim. Transitions of all callers of this process share flushes; the elements of one
 * call do not overtake each other.
 */
import type { IdempotencyRecord } from "../../../db/stores/idempotency-store.ts";
import type { AdvanceItemInput, Transition } from "../../contract/operations/advance-item.ts";
import type { ClaimEntry } from "../../contract/claiming.ts";
import { fault, isMusterError } from "../../contract/errors.ts";
import type { AdvanceRequest } from "../../core/advance.ts";
import { asFault, isFateUnknown } from "../database-fault.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { freeHolders } from "../leases/free-holders.ts";
import { identify } from "../identity.ts";
import { resolveItem } from "../resolve-items.ts";
import { describeCall, recordFor } from "../writing/write-call.ts";
import { type Coalescer, createCoalescer } from "../writing/coalescer.ts";
import { flushTransitions } from "./flush-transitions.ts";
import { refusalElement, refusedElement } from "./refusal.ts";
import type { TransitionCall, TransitionOutcome } from "./transition-call.ts";

export type TransitionLane = Coalescer<TransitionCall, TransitionOutcome>;

/** Claims the next item for a call whose transitions all applied. */
export type ClaimNext = (
  entry: ClaimEntry,
  input: AdvanceItemInput,
  caller: Caller,
  record: IdempotencyRecord | null,
) => Promise<{ readonly result: Record<string, unknown>; readonly workerId: string }>;

export function createTransitionLane(deps: EngineDeps): TransitionLane {
  return createCoalescer<TransitionCall, TransitionOutcome>({
    maxBatch: deps.settings.maxBatch,
    lanes: 1,
    exclusive: (call) => [
      call.request.itemId,
      ...(call.record === null
        ? []
        : [`${call.record.principal} ${call.record.requestId} ${call.record.element}`]),
    ],
    runBatch: (calls) => flushTransitions(deps, calls),
    runOne: async (call) => {
      const [outcome] = await flushTransitions(deps, [call]);
      if (!outcome) throw new Error("a flush of one answered nothing");
      return outcome;
    },
    mayRunAgain: (error, call) => call.record !== null || !isFateUnknown(error),
    onBatchError: (error, size) => deps.log.info({ err: error, size }, "transition batch retried one by one"),
  });
}

export async function advanceItem(
  deps: EngineDeps,
  lane: TransitionLane,
  claimNext: ClaimNext,
  input: AdvanceItemInput,
  caller: Caller,
): Promise<Record<string, unknown>> {
  const write = describeCall(
    "advance_item",
    { ...input, actor: input.actor ?? input.transitions[0]?.actor },
    caller,
  );
  const results: Record<string, unknown>[] = [];
  for (const [index, transition] of input.transitions.entries()) {
    results.push(await advanceOne(deps, lane, input, transition, recordFor(write, `t${index}`), caller));
  }
  const succeeded = results.filter((result) => result["applied"] === true).length;
  const output: Record<string, unknown> = {
    results,
    summary: { total: results.length, succeeded, failed: results.length - succeeded },
  };
  if (input.claimNext === undefined || succeeded < results.length) return output;
  const next = await claimNext(input.claimNext, input, caller, recordFor(write, "next"));
  return { ...output, next: next.result, workerId: next.workerId };
}

async function advanceOne(
  deps: EngineDeps,
  lane: TransitionLane,
  input: AdvanceItemInput,
  transition: Transition,
  record: IdempotencyRecord | null,
  caller: Caller,
): Promise<Record<string, unknown>> {
  const { itemId: ref, trigger } = transition;
  try {
    const resolved = await resolveItem(deps.db, ref);
    if (!resolved.ok) return refusedElement(ref, trigger, resolved.error);
    const call = toCall(deps, input, transition, resolved.id, record, caller);
    const outcome = await submit(deps, lane, call);
    if (outcome.kind === "applied" || outcome.kind === "replayed") return outcome.answer;
    if (outcome.kind === "refused") {
      return refusalElement(
        resolved.id,
        trigger,
        outcome.refusal,
        outcome.blockers,
        deps.settings.onCancelled,
      );
    }
    if (outcome.kind === "gone") {
      return refusedElement(
        ref,
        trigger,
        fault("idempotency_target_gone", `${resolved.id} was deleted after this transition`),
      );
    }
    return refusedElement(ref, trigger, fault("item_not_found", `no item has the id ${resolved.id}`));
  } catch (error) {
    // A key that was used for something else makes the whole call suspect; everything else is this element's.
    if (isMusterError(error) && error.code === "idempotency_mismatch") throw error;
    if (!isMusterError(error)) deps.log.error({ err: error, itemId: ref, trigger }, "transition failed");
    return refusedElement(ref, trigger, asFault(error));
  }
}

/** Asks the claim clock about a claim in the way whose expiry has passed, and tries once more if it has lapsed. */
async function submit(
  deps: EngineDeps,
  lane: TransitionLane,
  call: TransitionCall,
): Promise<TransitionOutcome> {
  const first = await lane.submit(call);
  const outcome =
    first.kind === "refused" && (await freeHolders(deps, first.refusal)) ? await lane.submit(call) : first;
  if (outcome.kind !== "refused" || outcome.refusal.code !== "not_claim_holder" || !outcome.refusal.expired) {
    return outcome;
  }
  const { fence, ttlMs } = outcome.refusal;
  const now = await deps.time.now();
  const [seen] = await deps.coordination.claimClock.look([{ key: call.request.itemId, fence, ttlMs }], now);
  return seen?.state === "dead" ? await lane.submit({ ...call, deadFence: fence }) : outcome;
}

function toCall(
  deps: EngineDeps,
  input: AdvanceItemInput,
  transition: Transition,
  itemId: string,
  record: IdempotencyRecord | null,
  caller: Caller,
): TransitionCall {
  const actor = transition.actor ?? input.actor;
  const who = identify(actor, transition.workerId ?? input.workerId, caller);
  const request: AdvanceRequest = {
    itemId,
    trigger: transition.trigger,
    summary: transition.summary ?? null,
    label: transition.label ?? null,
    credentials: transition.credentialRefs ?? [],
    writer: { agent: who.agent, session: who.session, fence: transition.fence ?? null },
    by: who.author,
    failure: { class: transition.class ?? "item", reason: transition.reason ?? null },
    operator: false,
    random: deps.random(),
  };
  return { request, record, deadFence: null };
}
