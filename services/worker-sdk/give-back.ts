/** Ending a claim without having finished its item. */
import { textOf } from "./errors.ts";
import type { ClaimGranted } from "./shapes.ts";
import type { SlotContext } from "./slot-context.ts";

/** Short, so that a stopping worker keeps its time: the claim lapses by itself if nobody answers. */
const RELEASE_TIMEOUT_MS = 1_000;

/** Puts the item back into the queue. Never throws. */
export async function giveBack(
  claim: ClaimGranted,
  slot: SlotContext,
  reason: string,
  delaySeconds?: number,
): Promise<void> {
  const { itemId, fence } = claim;
  const released = await release(itemId, fence, slot, true, delaySeconds);
  if (released) slot.emit({ type: "handed_back", itemId, fence, workerId: slot.client.workerId, reason });
}

/** Ends the claim; `requeue` also puts work back into the queue. Returns whether the server did it. Never throws. */
export async function release(
  itemId: string,
  fence: number,
  slot: SlotContext,
  requeue: boolean,
  delaySeconds?: number,
): Promise<boolean> {
  try {
    const limits = { timeoutMs: RELEASE_TIMEOUT_MS, retryForMs: RELEASE_TIMEOUT_MS };
    const [result] = await slot.client.release(
      [{ itemId, fence, requeue, ...(delaySeconds === undefined ? {} : { delaySeconds }) }],
      limits,
    );
    if (result?.outcome === "success") return true;
    slot.log.info({ itemId, fence, outcome: result?.outcome }, "nothing to release: the claim had ended");
  } catch (error) {
    slot.log.warn({ itemId, fence, reason: textOf(error) }, "could not release; the claim will lapse");
  }
  return false;
}
