/** Signs what is sent, as the Standard Webhooks say: over the id, the time of sending and the body. */
import { createHmac } from "node:crypto";
import { secretBytes } from "./sealed-secret.ts";

export interface Signed {
  readonly "webhook-id": string;
  /** Seconds since 1970. */
  readonly "webhook-timestamp": string;
  readonly "webhook-signature": string;
}

/** @param atMs when it is sent: a receiver refuses what is old, so that a caught request is worth nothing later */
export function sign(secret: string, id: string, body: string, atMs: number): Signed {
  const seconds = String(Math.floor(atMs / 1_000));
  const mac = createHmac("sha256", secretBytes(secret)).update(`${id}.${seconds}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": seconds, "webhook-signature": `v1,${mac}` };
}
