/**
 * Secrets that have to be read again, since signatures are made with them: sealed with the
 * installation's key, so that the database alone does not give them away. AES-256-GCM; the id of
 * the webhook is authenticated with it, so that a sealed secret opens nothing elsewhere.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const IV_BYTES = 12;
const TAG_BYTES = 16;
const SECRET_BYTES = 32;
/** As the Standard Webhooks write it. */
const PREFIX = "whsec_";

/** A new secret, as it is shown once. */
export function mintWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** The bytes that sign. */
export function secretBytes(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), "base64");
}

export function sealSecret(secret: string, key: string, webhookId: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", sealingKey(key), iv).setAAD(Buffer.from(webhookId));
  const text = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), text]);
}

/** @throws Error if it was sealed with another key, for another webhook, or was changed. */
export function openSecret(sealed: Buffer, key: string, webhookId: string): string {
  const iv = sealed.subarray(0, IV_BYTES);
  const tag = sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
  const decipher = createDecipheriv("aes-256-gcm", sealingKey(key), iv, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(webhookId))
    .setAuthTag(tag);
  const text = sealed.subarray(IV_BYTES + TAG_BYTES);
  return Buffer.concat([decipher.update(text), decipher.final()]).toString("utf8");
}

function sealingKey(key: string): Buffer {
  return Buffer.from(hkdfSync("sha256", key, "", "muster webhook secrets", 32));
}
