/** What becomes of a delivery after a try: it is over, or tried again later, or given up. */

/** What came of one try. */
export type SendResult =
  | { readonly kind: "answered"; readonly status: number; readonly retryAfterMs: number | null }
  /** Nobody answered, or not in time. */
  | { readonly kind: "unreachable"; readonly reason: string }
  /** Its address, or one that it was sent on to, is not one to send to. */
  | { readonly kind: "forbidden"; readonly reason: string };

export type DeliveryVerdict =
  | { readonly kind: "delivered" }
  | { readonly kind: "retry"; readonly afterMs: number; readonly reason: string }
  /** No further try by itself: somebody has to look. */
  | { readonly kind: "dead"; readonly reason: string };

/** With these the whole takes about two days. */
export const TRIES_MAX = 12;
const FIRST_MS = 5_000;
const FACTOR = 3;
const MAX_MS = 8 * 3_600_000;
/** A receiver may ask for more patience, but not for any. */
const RETRY_AFTER_MAX_MS = 24 * 3_600_000;

/** Of what is the caller's fault, these pass: it was too slow, or too fast. */
const PASSING = new Set([408, 429]);

/**
 * @param tries how often it was tried, this time included
 * @param random a number in [0, 1)
 */
export function judgeDelivery(result: SendResult, tries: number, random: number): DeliveryVerdict {
  if (result.kind === "answered" && result.status >= 200 && result.status < 300) return { kind: "delivered" };
  const reason = reasonOf(result);
  if (result.kind === "forbidden") return { kind: "dead", reason };
  const refused =
    result.kind === "answered" && result.status >= 400 && result.status < 500 && !PASSING.has(result.status);
  if (refused) return { kind: "dead", reason: `${reason}: the receiver will not take it` };
  if (tries >= TRIES_MAX) return { kind: "dead", reason: `${reason}, ${tries} times` };
  const asked = result.kind === "answered" ? Math.min(result.retryAfterMs ?? 0, RETRY_AFTER_MAX_MS) : 0;
  const backoff = Math.min(FIRST_MS * FACTOR ** (tries - 1), MAX_MS);
  // A fifth more or less, so that what failed together does not come back together.
  return { kind: "retry", afterMs: Math.max(asked, Math.round(backoff * (0.8 + 0.4 * random))), reason };
}

function reasonOf(result: SendResult): string {
  return result.kind === "answered" ? `answered ${result.status}` : result.reason;
}
