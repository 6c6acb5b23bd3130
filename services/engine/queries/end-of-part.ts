/** Texts that are longer than an answer may be come in parts, each with the offset of the next. */
import { PAGE_SIZE_MAX_BYTES, sizeOf } from "./fit-page.ts";

/**
 * Where the part of the text that begins at `offset` ends, in characters. Counted in bytes as sent: wide
 * letters and quotes weigh several times what others do.
 */
export function endOfPart(text: string, offset: number): number {
  let end = text.length;
  for (;;) {
    const size = sizeOf(text.slice(offset, end));
    if (size <= PAGE_SIZE_MAX_BYTES) break;
    end = offset + Math.floor(((end - offset) * PAGE_SIZE_MAX_BYTES) / size);
  }
  return tearsCharacter(text, end) ? end - 1 : end;
}

/** Some characters take two places. */
function tearsCharacter(text: string, end: number): boolean {
  return end < text.length && (text.codePointAt(end - 1) ?? 0) > 0xffff;
}
