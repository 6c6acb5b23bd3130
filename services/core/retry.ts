/** When an attempt ends badly: whether it counts, how long the item waits, when it is dead. */
import type { BackoffPolicy, ItemPolicy, ItemState } from "./state.ts";

/** `expiry`: nobody was heard. `item`: the item's own fault. `environment`: not its fault, so it does not count. */
export type Failure = "expiry" | "item" | "environment";

export type Verdict =
  | { readonly kind: "retry"; readonly attempts: number; readonly waitMs: number }
  | { readonly kind: "dead"; readonly attempts: number };

/**
 * @param attempts bad ends so far, without this one
 * @param random a number in [0, 1), so that items that failed together do not come back together
 */
export function judgeFailure(
  failure: Failure,
  attempts: number,
  policy: ItemPolicy,
  random: number,
): Verdict {
  const counted = failure === "environment" ? attempts : attempts + 1;
  if (failure !== "environment" && counted >= policy.maxAttempts) return { kind: "dead", attempts: counted };
  const waitMs = failure === "expiry" ? 0 : backoffMs(policy.backoff, Math.max(counted, 1), random);
  return { kind: "retry", attempts: counted, waitMs };
}

/** Closed with no attempt left: reopened by automation, it would be tried, and die, again and again. */
export function isUsedUp(item: Pick<ItemState, "role" | "attempts">, policy: ItemPolicy): boolean {
  return item.role === "terminal" && item.attempts >= policy.maxAttempts;
}

/** Exponential, capped, with up to half of it left to chance. */
export function backoffMs(backoff: BackoffPolicy, attempt: number, random: number): number {
  const full = Math.min(backoff.maxMs, backoff.firstMs * backoff.factor ** (attempt - 1));
  return Math.round(full * (0.5 + random / 2));
}
