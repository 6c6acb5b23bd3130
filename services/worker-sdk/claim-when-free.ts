/**
 * Waiting for an item. The server does the waiting: a claim stays open for up to
 * `waitSeconds` and is answered the moment something becomes free, so an idle worker
 * costs one call every half minute and still starts within milliseconds.
 */
import { randomUUID } from "node:crypto";
import { backoffMs, pause } from "./backoff.ts";
import type { ClaimAnswer } from "./client.ts";
import { monotonicMs } from "./clock.ts";
import { MusterClientError, textOf } from "./errors.ts";
import { giveBack } from "./give-back.ts";
import { heldFrom, isGranted, type HeldClaim } from "./held-claim.ts";
import type { ClaimRefused } from "./shapes.ts";
import type { SlotContext } from "./slot-context.ts";

const PAUSE_BASE_MS = 100;
const PAUSE_MAX_MS = 5_000;
/** While a tree is nearly done, look again this often whether it is. */
const UNTIL_EMPTY_WAIT_SECONDS = 2;
/** How long a stopping slot tries to find out whether its open claim was granted. */
const SETTLE_TIMEOUT_MS = 500;

/** Reasons not to be offered that pass by themselves, as opposed to those that need somebody to act. */
const PASSING = ["claimed", "ancestorClaimed", "waiting", "paused", "busy"] as const;

/** Returns the next item, or null when the worker stops or everything is done. */
export async function claimWhenFree(slot: SlotContext): Promise<HeldClaim | null> {
  for (let misses = 0; !slot.stopping.aborted; misses += 1) {
    const startedAtMs = monotonicMs();
    const waitSeconds = waitFor(slot, misses);
    const requestId = randomUUID();
    try {
      const { claim, firstTryAtMs } = await claimOnce(slot, requestId, waitSeconds);
      const held = heldFrom(claim, firstTryAtMs);
      if (held !== null) return held;
      if (isGranted(claim)) continue; // A replay of a claim that has ended since.
      if (isHopeless(claim)) throw refusalOf(claim);
      slot.emit({ type: "idle", workerId: slot.client.workerId, outcome: claim.outcome });
      if (slot.untilEmpty && isDrained(claim) && !slot.othersAreBusy()) return null;
      const waitedMs = monotonicMs() - startedAtMs;
      // An answer before its time (the server drains, or lets no more callers wait) must not become a busy loop.
      if (waitedMs < waitSeconds * 500 || waitSeconds === 0)
        await pause(pauseMs(claim.retryAfterMs, misses), slot.stopping);
    } catch (error) {
      if (slot.stopping.aborted) {
        await settleOpenClaim(slot, requestId);
        return null;
      }
      if (MusterClientError.is(error) && error.kind === "permanent") throw error;
      slot.emit({ type: "claim_failed", workerId: slot.client.workerId, reason: messageOf(error) });
      await pause(pauseMs(undefined, misses), slot.stopping);
    }
  }
  return null;
}

function claimOnce(slot: SlotContext, requestId: string, waitSeconds: number): Promise<ClaimAnswer> {
  const { entry, capabilities, stopping } = slot;
  return slot.client.claim({ ...entry, capabilities, waitSeconds, requestId, signal: stopping });
}

function waitFor(slot: SlotContext, misses: number): number {
  if (!slot.untilEmpty) return slot.waitSeconds;
  return misses === 0 ? 0 : Math.min(slot.waitSeconds, UNTIL_EMPTY_WAIT_SECONDS);
}

/** True when nothing matches, or what matches needs somebody else to act first. */
function isDrained(claim: ClaimRefused): boolean {
  if (claim.outcome === "queue_empty") return true;
  if (claim.outcome !== "none_eligible" || claim.excluded === undefined || claim.nextAt !== undefined)
    return false;
  const { excluded } = claim;
  return PASSING.every((reason) => (excluded[reason] ?? 0) === 0);
}

/** A refusal that the same claim will meet again: somebody has to change the worker's options. */
function isHopeless(claim: ClaimRefused): boolean {
  return claim.kind === "permanent" && claim.outcome !== "queue_empty";
}

function refusalOf(claim: ClaimRefused): MusterClientError {
  const { outcome, kind, hint } = claim;
  return new MusterClientError(claim.error, { code: outcome, kind, hint });
}

/**
 * A claim that was open when we hung up may have been granted in the same instant, to
 * nobody who knows. The same `requestId` tells: granted then, it is replayed, and given
 * back; if not, the worst case is a claim that is given back unused.
 */
async function settleOpenClaim(slot: SlotContext, requestId: string): Promise<void> {
  const { entry, capabilities } = slot;
  try {
    const { claim } = await slot.client.claim({
      ...entry,
      capabilities,
      requestId,
      timeoutMs: SETTLE_TIMEOUT_MS,
      retryForMs: SETTLE_TIMEOUT_MS,
    });
    if (isGranted(claim) && claim.fenceCurrent !== false) await giveBack(claim, slot, "the worker stops");
  } catch (error) {
    slot.log.info({ reason: textOf(error) }, "could not ask what became of an open claim");
  }
}

function pauseMs(retryAfterMs: number | undefined, misses: number): number {
  return Math.min(retryAfterMs ?? Number.POSITIVE_INFINITY, backoffMs(misses, PAUSE_BASE_MS, PAUSE_MAX_MS));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
