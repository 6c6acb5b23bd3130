/** What a handler says about its item. Expected ends are values; only surprises are thrown. */
import type { FailureClass } from "../contract/vocabulary.ts";
import { REASON_LENGTH_MAX, SUMMARY_LENGTH_MAX } from "../contract/limits.ts";

/** How a finished item moves on. */
export type FinishTrigger = "complete" | "start";

export type Outcome =
  | {
      readonly kind: "complete";
      readonly trigger?: FinishTrigger | undefined;
      readonly summary?: string | undefined;
    }
  | { readonly kind: "handBack"; readonly reason: string; readonly delaySeconds?: number | undefined }
  | { readonly kind: "fail"; readonly class: FailureClass; readonly reason: string };

/**
 * The item is done. Returning nothing from a handler means the same.
 * @param options.trigger `complete` closes the item; `start` moves it to its next phase, so that a review is not skipped.
 * @param options.summary what was done, kept with the transition.
 * @example
 * ```ts
 * handler: async (item) => {
 *   const report = await build(item);
 *   return complete({ trigger: "start", summary: report.headline });
 * }
 * ```
 */
export function complete(options: { trigger?: FinishTrigger; summary?: string } = {}): Outcome {
  const summary = options.summary?.slice(0, SUMMARY_LENGTH_MAX);
  return { kind: "complete", trigger: options.trigger, summary };
}

/**
 * Not now: puts the item back into the queue without counting an attempt against it.
 * The slot waits a little longer each time before it claims again.
 * @param options.delaySeconds whole seconds during which the item is offered to nobody.
 * @example
 * ```ts
 * if (await diskIsFull()) return handBack("no space left", { delaySeconds: 60 });
 * ```
 */
export function handBack(
  reason = "handed back by the handler",
  options: { delaySeconds?: number } = {},
): Outcome {
  const { delaySeconds } = options;
  return { kind: "handBack", reason: reason.slice(0, REASON_LENGTH_MAX), delaySeconds };
}

/**
 * This attempt failed. The item is tried again with a delay, until its attempts are used up.
 * @param reason evidence for whoever tries next.
 * @param failureClass `item` (default) counts an attempt; `environment` (a network, a disk) does not.
 * @example
 * ```ts
 * if (!result.ok) return fail(`tests failed:\n${result.tail}`);
 * ```
 */
export function fail(reason: string, failureClass: FailureClass = "item"): Outcome {
  // The end of a long text is where the error is.
  const text = reason.trim() === "" ? "no reason given" : reason;
  return { kind: "fail", class: failureClass, reason: text.slice(-REASON_LENGTH_MAX) };
}
