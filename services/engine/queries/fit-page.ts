/**
 * No answer may fill a model's context, whatever people wrote into their titles. A page that is too large
 * first loses the ends of its long texts, then its last rows: a caller that goes by `returned`, `hasMore` and
 * the offsets of the answer misses nothing.
 */
import { clipText } from "../../core/texts/clip-text.ts";

/** 16,000 tokens; the text beside it and the envelope need room of their own below 25,000. */
export const PAGE_SIZE_MAX_BYTES = 64_000;

/** Texts that are there to recognise an item by. */
const SHORTENED: ReadonlySet<string> = new Set(["title", "summary", "fromTitle", "snippet"]);
const SHORT_LENGTH = 80;

/** As many of the rows, from the first on, as fit; at least one. */
export function fitPage<T>(rows: readonly T[], budget = PAGE_SIZE_MAX_BYTES): T[] {
  if (sizeOf(rows) <= budget) return [...rows];
  const kept: T[] = [];
  let size = 0;
  for (const row of rows) {
    const short = shorten(row) as T;
    size += sizeOf(short);
    if (size > budget && kept.length > 0) break;
    kept.push(short);
  }
  return kept;
}

/**
 * Bytes as sent, in the dearer of the two forms. A client that gets JSON within the text pays for each
 * quote, backslash and line break a second time, but for no text beside it: it has a quarter more room.
 */
export function sizeOf(value: unknown): number {
  const json = JSON.stringify(value);
  const within = Buffer.byteLength(JSON.stringify(json));
  return Math.max(Buffer.byteLength(json), Math.ceil(within / WITHIN_TEXT));
}

const WITHIN_TEXT = 1.25;

function shorten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shorten);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      key,
      typeof part === "string" && SHORTENED.has(key) ? clipText(part, SHORT_LENGTH) : shorten(part),
    ]),
  );
}
