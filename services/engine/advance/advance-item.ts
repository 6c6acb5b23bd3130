/**
 * `advance_item`: transitions in order, each judged by itself, then perhaps the next
 * claim. Transitions of all callers of this process share flushes; the elements of one
 * call do not overtake each other.
 */
import { holderKey } from "../../../db/stores/holder-store.ts";
import { type IdempotencyRecord, keyText } from "../../../db/stores/idempotency-store.ts";
import type { AdvanceItemInput, Transition } from "../../contract/operations/advance-item.ts";
import { fault, isMusterError } from "../../contract/errors.ts";
import type { AdvanceRequest } from "../../core/advance.ts";
import type { ClaimCall, ClaimOutcome } from "../claims/claim-call.ts";
import type { ClaimedNext, ClaimNext } from "../claims/claim-next.ts";
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
import type { Looker } from "../access.ts";

export type TransitionLane = Coalescer<TransitionCall, TransitionOutcome>;

export function createTransitionLane(deps: EngineDeps): TransitionLane {
  return createCoalescer<TransitionCall, TransitionOutcome>({
    maxBatch: deps.settings.maxBatch,
    lanes: 2,
    exclusive: ({ request, record, next }) => [
      request.itemId,
      ...keyOf(record),
      ...(next === null ? [] : [`holder ${holderKey(next, deps.settings.identity)}`, ...keyOf(next.record)]),
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

const keyOf = (record: IdempotencyRecord | null): string[] => (record === null ? [] : [keyText(record)]);

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
  const { transitions } = input;
  const next =
    input.claimNext === undefined
      ? null
      : claimNext(input.claimNext, input, caller, recordFor(write, "next"));
  const results: Record<string, unknown>[] = [];
  let claimed: ClaimedNext | null = null;
  for (const [index, transition] of transitions.entries()) {
    const isLast = index === transitions.length - 1;
    const carried = isLast && next !== null && results.every(isApplied) ? await next.prepare() : null;
    const call = { input, transition, record: recordFor(write, `t${index}`), caller, next: carried };
    const { element, outcome } = await advanceOne(deps, lane, call, caller);
    results.push(element);
    if (next !== null && carried !== null && outcome !== null) claimed = await next.finish(carried, outcome);
  }
  const succeeded = results.filter(isApplied).length;
  const output: Record<string, unknown> = {
    results,
    summary: { total: results.length, succeeded, failed: results.length - succeeded },
  };
  if (next === null || succeeded < results.length) return output;
  const { result, workerId } = claimed ?? (await next.run());
  return { ...output, next: result, workerId };
}

const isApplied = (element: Record<string, unknown>): boolean => element["applied"] === true;

interface OneTransition {
  readonly input: AdvanceItemInput;
  readonly transition: Transition;
  readonly record: IdempotencyRecord | null;
  readonly caller: Caller;
  readonly next: ClaimCall | null;
}

interface AdvancedOne {
  readonly element: Record<string, unknown>;
  /** What came of the claim that was sent along; null if it was not tried. */
  readonly outcome: ClaimOutcome | null;
}

async function advanceOne(
  deps: EngineDeps,
  lane: TransitionLane,
  one: OneTransition,
  caller: Looker,
): Promise<AdvancedOne> {
  const { itemId: ref, trigger } = one.transition;
  const refused = (element: Record<string, unknown>): AdvancedOne => ({ element, outcome: null });
  try {
    if (one.transition.override === true) requirePerson(one);
    const resolved = await resolveItem(deps.db, ref, caller);
    if (!resolved.ok) return refused(refusedElement(ref, trigger, resolved.error));
    const outcome = await submitTransition(deps, lane, toCall(deps, one, resolved.id));
    if (outcome.kind === "applied" || outcome.kind === "replayed") {
      return { element: outcome.answer, outcome: outcome.next };
    }
    if (outcome.kind === "bad_note") return refused(refusedElement(ref, trigger, outcome.error));
    if (outcome.kind === "refused") {
      const { refusal, blockers } = outcome;
      return refused(refusalElement(resolved.id, trigger, refusal, blockers, deps.settings.onCancelled));
    }
    const why =
      outcome.kind === "gone"
        ? fault("idempotency_target_gone", `${resolved.id} was deleted after this transition`)
        : fault("item_not_found", `no item has the id ${resolved.id}`);
    return refused(refusedElement(ref, trigger, why));
  } catch (error) {
    // A key that was used for something else makes the whole call suspect; everything else is this element's.
    if (isMusterError(error) && error.code === "idempotency_mismatch") throw error;
    const shown = asFault(error);
    if (shown.code === "INTERNAL_ERROR")
      deps.log.error({ err: error, itemId: ref, trigger }, "transition failed");
    return refused(refusedElement(ref, trigger, shown));
  }
}

/** An agent that sets aside what stands in its way would be its own judge. */
function requirePerson({ input, transition }: OneTransition): void {
  const kind = (transition.actor ?? input.actor)?.kind;
  if (kind === "user" || kind === "external") return;
  throw fault("insufficient_capability", 'override is for people: its actor has kind "user"');
}

/** Asks the claim clock about a claim in the way whose expiry has passed, and tries once more if it has lapsed. */
export async function submitTransition(
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
  { input, transition, record, caller, next }: OneTransition,
  itemId: string,
): TransitionCall {
  const actor = transition.actor ?? input.actor;
  const who = identify(actor, transition.workerId ?? input.workerId, caller);
  const override = transition.override === true;
  const request: AdvanceRequest = {
    itemId,
    trigger: transition.trigger,
    summary: transition.summary ?? (override ? (transition.reason ?? null) : null),
    label: transition.label ?? null,
    credentials: transition.credentialRefs ?? [],
    writer: { agent: who.agent, session: who.session, fence: transition.fence ?? null },
    by: who.author,
    failure: { class: transition.class ?? "item", reason: transition.reason ?? null },
    operator: override,
    override,
    random: deps.random(),
  };
  const notes = (transition.notes ?? []).map(({ key, role, body }) => ({ key, role, body: body ?? "" }));
  return { request, record, deadFence: null, next, notes, audit: caller.record };
}
