/**
 * One slot: claims an item, works on it, hands it in, and holds the next one, until the
 * worker stops. Each slot is a worker of its own to the server, with its own `workerId`.
 */
import { backoffMs, pause } from "./backoff.ts";
import { claimWhenFree } from "./claim-when-free.ts";
import { executeItem } from "./execute-item.ts";
import { giveBack } from "./give-back.ts";
import type { HeldClaim } from "./held-claim.ts";
import type { SlotContext } from "./slot-context.ts";

const HAND_BACK_PAUSE_BASE_MS = 250;
const HAND_BACK_PAUSE_MAX_MS = 30_000;

export async function runSlot(slot: SlotContext): Promise<void> {
  let next: HeldClaim | null = null;
  let handBacksInRow = 0;
  for (;;) {
    const held: HeldClaim | null = next ?? (await claimWhenFree(slot));
    if (held === null) return;
    if (slot.stopping.aborted) {
      await giveBack(held.claim, slot, "the worker stops");
      return;
    }

    slot.setBusy(true);
    const end = await executeItem(held, slot).finally(() => slot.setBusy(false));
    next = end.next;

    // What was handed back is free at once, and probably the best item there is: without
    // a pause this slot would claim it again and again.
    handBacksInRow = end.kind === "handed_back" ? handBacksInRow + 1 : 0;
    if (handBacksInRow > 0) await pause(handBackPauseMs(handBacksInRow), slot.stopping);
  }
}

function handBackPauseMs(inRow: number): number {
  return backoffMs(inRow - 1, HAND_BACK_PAUSE_BASE_MS, HAND_BACK_PAUSE_MAX_MS);
}
