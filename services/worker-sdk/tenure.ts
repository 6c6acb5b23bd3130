/**
 * One tenure as the worker sees it: the claim, the signal that its handler watches, and
 * the trust window that closes when nobody has confirmed the claim in time.
 *
 *   held ──── renewed by the heartbeat thread ───► held
 *    │
 *    ├── the server says it ended ───────────────► lost (at once)
 *    ├── no confirmation until `trusted until` ──► lost (before the ttl ends)
 *    └── the handler settled ────────────────────► ending ──► ended
 */
import { monotonicMs } from "./clock.ts";
import { ClaimLost, type LossCause } from "./errors.ts";
import type { EventFunc } from "./events.ts";
import type { Attachment, Heartbeats } from "./heartbeats.ts";
import type { HeldClaim } from "./held-claim.ts";
import type { ClaimGranted } from "./shapes.ts";
import { hasLapsed } from "./trust-window.ts";

export interface Tenure {
  readonly claim: ClaimGranted;
  readonly signal: AbortSignal;
  /** How long the handler may still go on if no renewal gets through. */
  msLeft(): number;
  /** Why the claim must not be acted under any more, or null while it stands. */
  lossCause(): LossCause | null;
  /** Aborts the handler for a reason of the worker's own. */
  abort(reason: Error): void;
  /** The handler settled; renew only if handing in takes long. */
  beginEnding(): void;
  /** No renewal begins after this. */
  end(): void;
}

export function openTenure(
  held: HeldClaim,
  workerId: string,
  heartbeats: Heartbeats,
  emit: EventFunc,
): Tenure {
  const { claim } = held;
  const { itemId, fence } = claim;
  const controller = new AbortController();
  let lossCause: LossCause | null = null;
  let timer: NodeJS.Timeout | undefined;

  function lose(cause: LossCause): void {
    if (lossCause !== null) return;
    lossCause = cause;
    clearTimeout(timer);
    attachment.detach();
    emit({ type: "lost", itemId, fence, workerId, lossCause: cause });
    controller.abort(new ClaimLost(itemId, fence, cause));
  }

  /** Looks at the shared memory, not at what was known when the timer was set: see heartbeat-messages.ts. */
  function watch(): void {
    const untilMs = attachment.cell.trustedUntilMs();
    const nowMs = monotonicMs();
    if (attachment.cell.state() === "lost") return; // Its message is on the way.
    if (hasLapsed(untilMs, nowMs)) return lose("trust_lapsed");
    timer = setTimeout(watch, Math.ceil(untilMs - nowMs));
  }

  const attachment: Attachment = heartbeats.attach({
    itemId,
    fence,
    ttlMs: claim.ttlSeconds * 1000,
    trustedUntilMs: held.trustedUntilMs,
    onLost: lose,
  });
  watch();

  return {
    claim,
    signal: controller.signal,
    msLeft: () => Math.max(0, attachment.cell.trustedUntilMs() - monotonicMs()),
    lossCause: () => lossCause,
    abort: (reason) => controller.abort(reason),
    beginEnding() {
      clearTimeout(timer);
      attachment.cell.beginEnding();
    },
    end() {
      clearTimeout(timer);
      attachment.detach();
    },
  };
}
