/** How far a reader of ends has come, as text that any replica reads back. */
import { z } from "zod";
import type { EndsPosition } from "../../../db/stores/context-agent-store.ts";
import { fault } from "../../contract/errors.ts";

const snapshot = z.string().regex(/^\d{1,20}:\d{1,20}:(\d{1,20}(,\d{1,20})*)?$/);
const SHAPE = z.tuple([
  z.literal(1),
  z.int().min(0),
  snapshot,
  z.tuple([snapshot, z.string().regex(/^\d{1,20}$/), z.uuid(), z.int().min(0)]).nullable(),
]);

export function writeCursor({ at, seen, page }: EndsPosition): string {
  const parts = [1, at, seen, page === null ? null : [page.upTo, page.xid, page.itemId, page.fence]];
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/** @throws MusterError for a text that was not written by {@link writeCursor} */
export function readCursor(text: string): EndsPosition {
  const parsed = SHAPE.safeParse(parse(text));
  if (!parsed.success)
    throw fault("VALIDATION_ERROR", "get_context: cursor: is not one that get_context returned", {
      hint: "Leave it out: the answer then tells everything that ended lately, and has a cursor.",
    });
  const [, at, seen, page] = parsed.data;
  if (page === null) return { at, seen, page: null };
  const [upTo, xid, itemId, fence] = page;
  return { at, seen, page: { upTo, xid, itemId, fence } };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString("utf8")) as unknown;
  } catch {
    return null;
  }
}
