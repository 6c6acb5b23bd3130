/** Checks that a webhook came from Muster, and came just now. The scheme is that of the Standard Webhooks. */
import { createHmac, timingSafeEqual } from "node:crypto";

export type WebhookRefusal = "malformed" | "too_old" | "too_new" | "wrong_signature";

export interface VerifyWebhookInput {
  /** As it was shown when the webhook was made: `whsec_…`. Several while a secret is being replaced. */
  readonly secret: string | readonly string[];
  /** Of the request; names in lower case, as Node gives them. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Exactly the bytes that came: a body that was parsed and written again has another signature. */
  readonly body: string | Uint8Array;
  /** How far its time may be from now. Default 300. */
  readonly toleranceSeconds?: number;
  /** Milliseconds since 1970; for tests. */
  readonly nowMs?: number;
}

export type WebhookVerdict =
  /** `id` is the same at every try of a delivery: remember it to do things once. */
  | { readonly ok: true; readonly id: string; readonly sentAtMs: number }
  | { readonly ok: false; readonly refusal: WebhookRefusal };

const PREFIX = "whsec_";
const TOLERANCE_SECONDS = 300;

export function verifyWebhook(input: VerifyWebhookInput): WebhookVerdict {
  const { headers, body, toleranceSeconds = TOLERANCE_SECONDS, nowMs = Date.now() } = input;
  const [id, time, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map(
    (name) => headers[name],
  );
  if (typeof id !== "string" || typeof time !== "string" || typeof signatures !== "string")
    return { ok: false, refusal: "malformed" };
  if (!/^\d{1,12}$/.test(time)) return { ok: false, refusal: "malformed" };
  const secrets = typeof input.secret === "string" ? [input.secret] : input.secret;
  const given = signatures.split(" ").flatMap((one) => (one.startsWith("v1,") ? [one.slice(3)] : []));
  // The signature first: what it does not cover is not worth a more exact answer.
  if (!secrets.some((secret) => isSigned(secret, id, time, body, given)))
    return { ok: false, refusal: "wrong_signature" };
  const sentAtMs = Number(time) * 1_000;
  if (nowMs - sentAtMs > toleranceSeconds * 1_000) return { ok: false, refusal: "too_old" };
  if (sentAtMs - nowMs > toleranceSeconds * 1_000) return { ok: false, refusal: "too_new" };
  return { ok: true, id, sentAtMs };
}

function isSigned(
  secret: string,
  id: string,
  time: string,
  body: string | Uint8Array,
  given: readonly string[],
): boolean {
  const key = Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, "base64");
  const expected = createHmac("sha256", key).update(`${id}.${time}.`).update(body).digest();
  return given.some((one) => {
    const actual = Buffer.from(one, "base64");
    return actual.length === expected.length && timingSafeEqual(actual, expected);
  });
}
