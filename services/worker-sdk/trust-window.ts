/**
 * How long a holder may believe that it still holds.
 *
 * Only the server knows when a claim lapses, and its clock is not ours. What is
 * certain is an order of events: we sent a request, then the server granted a ttl.
 * So a window counted from *before the first try* closes no later than the claim
 * does, however slow the answer was and however often it was asked for:
 *
 *     first try          granted                      lapses
 *        |------ ? ---------|----------- ttl -----------|
 *        |----------- ttl - margin ---------|
 *                                           ^ trusted until
 *
 * The margin is the time left to the work to notice and stop.
 */

/** A tenth of the ttl, never more than this. */
const MARGIN_MAX_MS = 5_000;

/** The part of a ttl that is kept back for stopping the work. */
export function marginOf(ttlMs: number): number {
  return Math.min(ttlMs / 10, MARGIN_MAX_MS);
}

/**
 * The instant, on the clock that `firstTryAtMs` was read from, until which a grant may be trusted.
 * @param msLeft what the answer says is left; less than the ttl when the tenure is nearly over.
 */
export function trustedUntil(firstTryAtMs: number, ttlMs: number, msLeft: number = ttlMs): number {
  return firstTryAtMs + Math.min(ttlMs, msLeft) - marginOf(ttlMs);
}

/** True from the instant itself on: `<= now` has lapsed, here as on the server. */
export function hasLapsed(trustedUntilMs: number, nowMs: number): boolean {
  return trustedUntilMs <= nowMs;
}

/**
 * True when so much of a fresh grant was spent on waiting for it that it must be
 * confirmed before work begins. A claim may wait 50 seconds for an item with a ttl of
 * five: counted from before the wait it would be over before it began.
 */
export function needsConfirming(trustedUntilMs: number, ttlMs: number, nowMs: number): boolean {
  return trustedUntilMs - nowMs < ttlMs / 2;
}

/** How long to wait before renewing claims of which `ttlMs` is the shortest; `random` is 0 to 1. */
export function renewAfter(ttlMs: number, random: number): number {
  return (ttlMs / 3) * (0.85 + 0.15 * random);
}
