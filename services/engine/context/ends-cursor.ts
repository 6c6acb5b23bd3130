/** How far a reader of ends has come, as text that any replica reads back. */
import type { EndsPosition } from "../../../db/stores/context-agent-store.ts";
import { fault } from "../../contract/errors.ts";
import { isFullId } from "../../contract/fields.ts";

const VERSION = 1;
const SNAPSHOT = /^\d{1,20}:\d{1,20}:(\d{1,20}(,\d{1,20})*)?$/;
const XID = /^\d{1,20}$/;

export function writeCursor({ at, seen, page }: EndsPosition): string {
  const parts = [VERSION, at, seen, page?.upTo ?? "", page?.xid ?? "", page?.itemId ?? "", page?.fence ?? 0];
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/** @throws MusterError for a text that was not written by {@link writeCursor} */
export function readCursor(text: string): EndsPosition {
  const [version, at, seen, upTo, xid, itemId, fence] = parse(text);
  if (version === VERSION && isCount(at) && matches(seen, SNAPSHOT)) {
    if (upTo === "") return { at, seen, page: null };
    const isPage = matches(upTo, SNAPSHOT) && matches(xid, XID) && isCount(fence);
    if (isPage && typeof itemId === "string" && isFullId(itemId))
      return { at, seen, page: { upTo, xid, itemId, fence } };
  }
  throw fault("VALIDATION_ERROR", "get_context: cursor: is not one that get_context returned", {
    hint: "Leave it out: the answer then tells everything that ended lately, and has a cursor.",
  });
}

function matches(value: unknown, pattern: RegExp): value is string {
  return typeof value === "string" && pattern.test(value);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function parse(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
