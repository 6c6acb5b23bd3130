/**
 * `muster_<8>_<43>`: what a token looks like. The first part names it, in lists and in logs; the
 * second is the secret, 32 random bytes in base64url. The fixed shape lets scanners find one that
 * was committed by mistake, and lets a door tell it from a JWT without asking anybody.
 */
import { createHash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";

const SHAPE = /^muster_([a-z0-9]{8})_([A-Za-z0-9_-]{43})$/;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";
const ID_LENGTH = 8;
const SECRET_BYTES = 32;

export interface TokenText {
  readonly id: string;
  /** Lower-case hex. */
  readonly secretSha256: string;
}

export function mintTokenId(): string {
  return Array.from({ length: ID_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
}

/** A new secret for the token: its whole text, to be shown once, and what is stored of it. */
export function mintSecret(id: string): TokenText & { readonly text: string } {
  const secret = randomBytes(SECRET_BYTES).toString("base64url");
  return { id, text: `muster_${id}_${secret}`, secretSha256: sha256(secret) };
}

/** Null for what has not the shape of a token. */
export function readTokenText(text: string): TokenText | null {
  const [, id, secret] = SHAPE.exec(text) ?? [];
  return id === undefined || secret === undefined ? null : { id, secretSha256: sha256(secret) };
}

/** What may be shown of a token: which one it is. */
export function tokenPrefix(id: string): string {
  return `muster_${id}`;
}

/** Takes as long whether they differ at the first character or at the last. */
export function isSameSecret(a: string, b: string): boolean {
  const left = Buffer.from(a, "hex");
  const right = Buffer.from(b, "hex");
  return left.length === right.length && timingSafeEqual(left, right);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
