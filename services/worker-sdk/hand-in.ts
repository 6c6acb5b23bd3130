/** Telling the server how an item ended: the last steps of the pipeline in execute-item.ts. */
import { randomUUID } from "node:crypto";
import { backoffMs, pause } from "./backoff.ts";
import type { AdvanceAnswer } from "./client.ts";
import { monotonicMs } from "./clock.ts";
import { textOf } from "./errors.ts";
import { giveBack, release } from "./give-back.ts";
import { heldFrom, type HeldClaim } from "./held-claim.ts";
import { fail, type Outcome } from "./outcome.ts";
import type {
  AdvanceItemRequest,
  TransitionApplied,
  TransitionRefused,
  TransitionRequest,
} from "./shapes.ts";
import type { SlotContext } from "./slot-context.ts";
import type { Tenure } from "./tenure.ts";

/** How an item ended, and the one that was claimed in the same call. */
export interface ItemEnd {
  readonly kind: "completed" | "handed_back" | "failed" | "lost" | "undelivered";
  readonly next: HeldClaim | null;
}

type Complete = Extract<Outcome, { kind: "complete" }>;
type Fail = Extract<Outcome, { kind: "fail" }>;

/** Finished work is worth waiting out an outage of this length, even with a short ttl. */
const HAND_IN_RETRY_MIN_MS = 30_000;
const RETRY_BASE_MS = 50;
const RETRY_MAX_MS = 2_000;

/** Refusals that mean: this claim is not ours any more. */
const LOST_CODES: readonly string[] = [
  "claim_lost",
  "not_claim_holder",
  "item_not_found",
  "not_found",
  "RESOURCE_NOT_FOUND",
];

export async function handIn(tenure: Tenure, outcome: Outcome, slot: SlotContext): Promise<ItemEnd> {
  try {
    if (outcome.kind === "complete") return await handInComplete(tenure, outcome, slot);
    if (outcome.kind === "fail") return await handInFailure(tenure, outcome, slot);
    await giveBack(tenure.claim, slot, outcome.reason, outcome.delaySeconds);
    return { kind: "handed_back", next: null };
  } catch (error) {
    return undelivered(tenure, textOf(error), slot);
  }
}

/** Finishes the item and claims the next one, in one call. */
async function handInComplete(tenure: Tenure, outcome: Complete, slot: SlotContext): Promise<ItemEnd> {
  const { itemId, fence } = tenure.claim;
  const { workerId } = slot.client;
  const transition = {
    itemId,
    fence,
    trigger: outcome.trigger ?? slot.finishWith,
    ...(outcome.summary === undefined ? {} : { summary: outcome.summary }),
  };
  const { result, answer } = await advance(tenure, transition, slot, !slot.stopping.aborted);
  if (!result.applied) {
    if (LOST_CODES.includes(result.errorCode)) return lostAtTheDoor(tenure, slot);
    // The work is done but not accepted, say because a note is missing: the next attempt must know.
    const reason = `The item could not be finished: ${result.errorCode}: ${result.error}`;
    return handInFailure(tenure, fail(reason) as Fail, slot);
  }
  slot.emit({ type: "completed", itemId, fence, workerId, newRole: result.newRole });
  const next = heldFrom(answer.next, answer.firstTryAtMs);
  // Claiming the next item released this one. Otherwise a phase is over but the claim is not.
  if (next === null && result.newRole !== "terminal" && result.claimReleased !== true) {
    await release(itemId, result.fence ?? fence, slot, false);
  }
  return { kind: "completed", next };
}

async function handInFailure(tenure: Tenure, outcome: Fail, slot: SlotContext): Promise<ItemEnd> {
  const { itemId, fence } = tenure.claim;
  const transition = {
    itemId,
    fence,
    trigger: "fail" as const,
    class: outcome.class,
    reason: outcome.reason,
  };
  const { result } = await advance(tenure, transition, slot, false);
  if (!result.applied) {
    if (LOST_CODES.includes(result.errorCode)) return lostAtTheDoor(tenure, slot);
    await giveBack(tenure.claim, slot, `${result.errorCode}: ${result.error}`);
    return { kind: "handed_back", next: null };
  }
  slot.emit({ type: "failed", itemId, fence, workerId: slot.client.workerId, reason: outcome.reason });
  if (result.claimReleased === false) await release(itemId, result.fence ?? fence, slot, true);
  return { kind: "failed", next: null };
}

interface Advanced {
  readonly result: TransitionApplied | TransitionRefused;
  readonly answer: AdvanceAnswer;
}

/**
 * One transition under one `requestId`, repeated while its refusal is a passing one:
 * the server keeps answers of what it did, not of what it refused.
 */
async function advance(
  tenure: Tenure,
  transition: TransitionRequest,
  slot: SlotContext,
  claimNext: boolean,
): Promise<Advanced> {
  const retryForMs = Math.max(HAND_IN_RETRY_MIN_MS, tenure.claim.ttlSeconds * 1000);
  const { entry, capabilities, client } = slot;
  const withNext = {
    claimNext: entry,
    ...(capabilities.length > 0 ? { capabilities: capabilities.join(",") } : {}),
  };
  const request: AdvanceItemRequest = {
    transitions: [transition],
    requestId: randomUUID(),
    ...(claimNext ? withNext : {}),
  };
  const giveUpAtMs = monotonicMs() + retryForMs;
  for (let tries = 0; ; tries += 1) {
    const answer = await client.advance(request, { retryForMs });
    const result = answer.results[0];
    if (result === undefined) throw new TypeError("The answer to a transition holds no result");
    if (result.applied || result.errorKind === "permanent" || monotonicMs() > giveUpAtMs)
      return { result, answer };
    await pause(result.retryAfterMs ?? backoffMs(tries, RETRY_BASE_MS, RETRY_MAX_MS));
  }
}

function lostAtTheDoor(tenure: Tenure, slot: SlotContext): ItemEnd {
  const { itemId, fence } = tenure.claim;
  slot.emit({ type: "lost", itemId, fence, workerId: slot.client.workerId, lossCause: "claim_lost" });
  return { kind: "lost", next: null };
}

function undelivered(tenure: Tenure, reason: string, slot: SlotContext): ItemEnd {
  const { itemId, fence } = tenure.claim;
  slot.emit({ type: "undelivered", itemId, fence, workerId: slot.client.workerId, reason });
  return { kind: "undelivered", next: null };
}
