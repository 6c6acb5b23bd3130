/** Entity tags, and the versions that they stand for. */
import { fault } from "../../contract/errors.ts";

export function quoted(etag: string): string {
  return `"${etag}"`;
}

/**
 * The version that an `If-Match` names; undefined where there is none or any will do (`*`).
 * @throws MusterError `etag_mismatch` for a tag that this server never gave: it can match nothing
 */
export function versionOf(header: string | undefined): number | undefined {
  const tag = onlyTag(header);
  if (tag === undefined) return undefined;
  const version = /^v([1-9]\d{0,8})(-[0-9a-f]+)?$/.exec(tag)?.[1];
  if (version === undefined) throw mismatch();
  return Number(version);
}

/** The one tag of a header, without its quotes. Weak tags are taken too: proxies that compress make them. */
export function onlyTag(header: string | undefined): string | undefined {
  if (header === undefined || header.trim() === "*") return undefined;
  const tag = /^(?:W\/)?"([^"]*)"$/.exec(header.trim())?.[1];
  if (tag === undefined)
    throw fault("bad_request", "If-Match must be one ETag in double quotes, as it was read");
  return tag;
}

export function mismatch(message = "what you have read is not what is there now") {
  return fault("etag_mismatch", message);
}
