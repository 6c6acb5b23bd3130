/**
 * Sessions that nobody stores.
 *
 * A session tells two processes of one agent name apart. A 2025-era client is given
 * one at `initialize`: a random id and what the client calls itself, signed with the
 * fleet's secret. Every replica can check the signature, so the id works wherever the
 * next request lands and survives a restart; no table, no map, nothing to expire.
 *
 * A session is a name, not a credential: it grants nothing. The signature only keeps
 * a mistyped or truncated header from silently becoming somebody else, which would
 * look like a lost claim. Clients of the 2026 era have no such header; they pass
 * `workerId`, or the header `Muster-Session` when a program of ours speaks for them.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** What the client calls itself. Recorded, never trusted. */
export interface ClientLabel {
  readonly name: string;
  readonly version: string;
}

/** A verified session: `session` is what the engine sees and what `workerId` answers carry. */
interface VerifiedSession {
  readonly session: string;
  readonly client: ClientLabel | null;
}

export interface Sessions {
  /** Makes the value of a new `Mcp-Session-Id`. */
  mint(client: ClientLabel | null): string;
  /** Returns null for anything this fleet did not sign. */
  verify(header: string): VerifiedSession | null;
}

const FORMAT = "ms1";
/** Longest header that `mint` can make, with room to spare; longer ones are not worth hashing. */
const MAX_HEADER_LENGTH = 1024;
const MAX_NAME_LENGTH = 64;
const MAX_VERSION_LENGTH = 32;

/** The shape of a session that a caller names itself, the same as `workerId`. */
const PLAIN_SESSION = /^[A-Za-z0-9._:@/-]{1,200}$/;

/** What sessions are signed with. A fleet may have to read it from a database that comes up later. */
export type SecretKey = string | Uint8Array | (() => string | Uint8Array);

/** Signs and checks session ids with a key derived from the fleet's secret. */
export function createSessions(secretKey: SecretKey): Sessions {
  let key: Buffer | undefined;
  const sign = (text: string): Buffer => {
    // A derived key: a signature made here can never be passed off as one made elsewhere with the same secret.
    key ??= createHmac("sha256", typeof secretKey === "function" ? secretKey() : secretKey)
      .update("muster mcp session v1")
      .digest();
    return createHmac("sha256", key).update(text).digest();
  };

  return {
    mint(client) {
      const id = randomBytes(16).toString("base64url");
      const label =
        client === null ? "" : Buffer.from(JSON.stringify(labelParts(client))).toString("base64url");
      const body = `${FORMAT}.${id}.${label}`;
      return `${body}.${sign(body).toString("base64url")}`;
    },
    verify(header) {
      if (header.length > MAX_HEADER_LENGTH) return null;
      const [format, id, label, signature, ...rest] = header.split(".");
      if (format !== FORMAT || !id || label === undefined || !signature || rest.length > 0) return null;
      const expected = sign(`${format}.${id}.${label}`);
      const given = Buffer.from(signature, "base64url");
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
      return { session: `mcp-${id}`, client: label === "" ? null : readLabel(label) };
    },
  };
}

/** A session that the caller chose itself, or null when it has not the shape of a `workerId`. */
export function readPlainSession(header: string): string | null {
  return PLAIN_SESSION.test(header) ? header : null;
}

/**
 * Labels go into headers, log lines and rows; a client may call itself anything of any length.
 * What cannot be seen is left out, and what a database could not store.
 */
export function clipLabel({ name, version }: ClientLabel): ClientLabel {
  return { name: clip(name, MAX_NAME_LENGTH), version: clip(version, MAX_VERSION_LENGTH) };
}

const UNSEEN = /[\p{Cc}\p{Cf}]/gu;

function clip(text: string, length: number): string {
  // A cut may go through the middle of a character.
  return text.replaceAll(UNSEEN, "").slice(0, length).toWellFormed();
}

function labelParts(client: ClientLabel): [string, string] {
  const { name, version } = clipLabel(client);
  return [name, version];
}

/** Only called on what we signed, so the shape is ours. */
function readLabel(label: string): ClientLabel {
  const [name, version] = JSON.parse(Buffer.from(label, "base64url").toString()) as [string, string];
  return { name, version };
}
