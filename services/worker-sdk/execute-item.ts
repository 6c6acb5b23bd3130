/**
 * The life of one item in a slot, from the claim to the next one:
 *
 *   confirm ─► open the trust window ─► run the handler ─► judge ─► hand in ─► next
 *
 * Each step is a function below or in hand-in.ts. A step that finds the claim lost ends
 * the pipeline: what it would have written, the server would refuse.
 */
import { monotonicMs } from "./clock.ts";
import { textOf, WorkerStopped } from "./errors.ts";
import { giveBack } from "./give-back.ts";
import { handIn, type ItemEnd } from "./hand-in.ts";
import type { HeldClaim } from "./held-claim.ts";
import { fail, handBack, complete, type Outcome } from "./outcome.ts";
import type { HandlerContext, SlotContext } from "./slot-context.ts";
import { openTenure, type Tenure } from "./tenure.ts";
import { needsConfirming, trustedUntil } from "./trust-window.ts";

/** Works on a claimed item until it is handed in, handed back, failed or lost. */
export async function executeItem(held: HeldClaim, slot: SlotContext): Promise<ItemEnd> {
  const confirmed = await confirm(held, slot);
  if (confirmed === null) return { kind: "lost", next: null };

  const { workerId } = slot.client;
  const { itemId, fence, attempt, item } = confirmed.claim;
  const tenure = openTenure(confirmed, workerId, slot.heartbeats, slot.emit);
  slot.emit({ type: "claimed", itemId, fence, workerId, attempt, title: item.title });
  try {
    const outcome = await runHandler(tenure, slot);
    return await settle(tenure, outcome, slot);
  } finally {
    tenure.end();
  }
}

/**
 * A claim that was waited for may have used up its window before it was granted. One
 * renewal opens a fresh one, and finds out whether the claim still stands.
 */
async function confirm(held: HeldClaim, slot: SlotContext): Promise<HeldClaim | null> {
  const { itemId, fence, ttlSeconds } = held.claim;
  const ttlMs = ttlSeconds * 1000;
  if (!needsConfirming(held.trustedUntilMs, ttlMs, monotonicMs())) return held;
  try {
    const { results, firstTryAtMs } = await slot.client.refresh([{ itemId, fence }], { retryForMs: ttlMs });
    const result = results[0];
    if (result?.outcome === "success") {
      return { claim: held.claim, trustedUntilMs: trustedUntil(firstTryAtMs, ttlMs, result.msLeft) };
    }
    slot.log.warn({ itemId, fence, outcome: result?.outcome }, "the claim was lost before its work began");
  } catch (error) {
    slot.log.warn({ itemId, fence, reason: textOf(error) }, "the claim could not be confirmed");
    await giveBack(held.claim, slot, "could not be confirmed");
  }
  return null;
}

/** Runs the handler; an end by exception becomes an outcome like any other. */
async function runHandler(tenure: Tenure, slot: SlotContext): Promise<Outcome> {
  const stop = (): void => tenure.abort(new WorkerStopped("The worker stops"));
  if (slot.graceOver.aborted) stop();
  slot.graceOver.addEventListener("abort", stop, { once: true });
  try {
    const work = Promise.resolve(slot.handler(tenure.claim.item, contextOf(tenure, slot)));
    const outcome = await Promise.race([work, whenAbandoned(slot.abandoned, work)]);
    return outcome ?? complete();
  } catch (error) {
    if (slot.graceOver.aborted && tenure.signal.aborted) return handBack("the worker stopped");
    return fail(textOf(error));
  } finally {
    slot.graceOver.removeEventListener("abort", stop);
  }
}

/** A handler that ignores its signal is left behind: its fence keeps it from writing. */
function whenAbandoned(abandoned: AbortSignal, work: Promise<unknown>): Promise<Outcome> {
  const end = handBack("the worker stopped while its handler went on");
  return new Promise((resolve) => {
    const left = (): void => resolve(end);
    if (abandoned.aborted) left();
    abandoned.addEventListener("abort", left, { once: true });
    const settled = (): void => abandoned.removeEventListener("abort", left);
    work.then(settled, settled);
  });
}

/** Judges an outcome by what became of the claim meanwhile, and hands it in. */
async function settle(tenure: Tenure, outcome: Outcome, slot: SlotContext): Promise<ItemEnd> {
  const lossCause = tenure.lossCause();
  tenure.beginEnding();
  if (lossCause === null) return handIn(tenure, outcome, slot);
  if (lossCause === "claim_lost" || lossCause === "not_found") return { kind: "lost", next: null };
  // The window closed, and only the server knows whether the claim did. Finished work is
  // offered to it all the same, unfinished work is given back.
  if (outcome.kind === "complete") return handIn(tenure, outcome, slot);
  await giveBack(tenure.claim, slot, "the claim could not be kept");
  return { kind: "lost", next: null };
}

function contextOf(tenure: Tenure, slot: SlotContext): HandlerContext {
  const { item, fence, attempt } = tenure.claim;
  const { client, log } = slot;
  return {
    signal: tenure.signal,
    item,
    fence,
    attempt,
    workerId: client.workerId,
    client,
    log,
    msLeft: () => tenure.msLeft(),
  };
}
