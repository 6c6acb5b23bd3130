/**
 * Edits of a text by anchor. Each edit names a piece of the text, which must occur exactly
 * once when its turn comes, and what stands there instead: an agent changes one line of a
 * long text without sending the rest, and without writing over what others changed elsewhere.
 *
 * What was replaced is kept together with the text around it. Undoing an edit looks for that
 * whole piece, so later edits elsewhere survive, and one that touched it makes the undo fail.
 */

export interface TextEdit {
  readonly old: string;
  readonly new: string;
  /** Of several occurrences, the one nearest to this line is meant. */
  readonly line?: number | undefined;
}

/** What an edit did, with enough of the text around it to find the place again. */
export interface AppliedEdit {
  readonly before: string;
  readonly old: string;
  readonly new: string;
  readonly after: string;
}

export type EditVerdict =
  | { readonly kind: "edited"; readonly text: string; readonly applied: readonly AppliedEdit[] }
  | { readonly kind: "missing"; readonly index: number }
  | { readonly kind: "ambiguous"; readonly index: number; readonly lines: readonly number[] };

export type UndoVerdict =
  | { readonly kind: "undone"; readonly text: string; readonly applied: readonly AppliedEdit[] }
  /** What the change wrote, or what is next to it, is no longer there as it was. */
  | { readonly kind: "touched_since" };

/** Of an anchor that occurs too often, so many places are named. */
const LINES_NAMED_MAX = 20;
/** An anchor such as a single space occurs everywhere; nobody needs all places. */
const OCCURRENCES_MAX = 1_000;
const CONTEXT_MIN = 12;
const CONTEXT_MAX = 1_024;

/** Applies the edits in order. If one of them cannot be, none is. */
export function applyEdits(text: string, edits: readonly TextEdit[]): EditVerdict {
  const applied: AppliedEdit[] = [];
  let current = text;
  for (const [index, edit] of edits.entries()) {
    const found = occurrences(current, edit.old);
    if (found.length === 0) return { kind: "missing", index };
    const at = choose(current, found, edit.line);
    if (at === null) return { kind: "ambiguous", index, lines: linesOf(current, found) };
    const one = replaceAt(current, at, edit.old.length, edit.new);
    applied.push(one.applied);
    current = one.text;
  }
  return { kind: "edited", text: current, applied };
}

/** Takes edits back, the latest first. If one of them cannot be, none is. */
export function undoEdits(text: string, edits: readonly AppliedEdit[]): UndoVerdict {
  const applied: AppliedEdit[] = [];
  let current = text;
  for (const edit of edits.toReversed()) {
    const found = occurrences(current, edit.before + edit.new + edit.after);
    const [at, second] = found;
    if (at === undefined || second !== undefined) return { kind: "touched_since" };
    const one = replaceAt(current, at + edit.before.length, edit.new.length, edit.old);
    applied.push(one.applied);
    current = one.text;
  }
  return { kind: "undone", text: current, applied };
}

/** Puts `instead` in place of `length` characters, and notes what that did. */
export function replaceAt(
  text: string,
  at: number,
  length: number,
  instead: string,
): { readonly text: string; readonly applied: AppliedEdit } {
  const old = text.slice(at, at + length);
  const edited = text.slice(0, at) + instead + text.slice(at + length);
  return { text: edited, applied: { ...surroundings(edited, at, at + instead.length), old, new: instead } };
}

/** As much of the text around a piece as tells the place from all others, within bounds. */
function surroundings(text: string, start: number, end: number): { before: string; after: string } {
  for (let size = CONTEXT_MIN; ; size *= 2) {
    const before = text.slice(Math.max(0, start - size), start);
    const after = text.slice(end, end + size);
    if (size >= CONTEXT_MAX || before.length + (end - start) + after.length === text.length)
      return { before, after };
    const piece = before + text.slice(start, end) + after;
    if (text.indexOf(piece) === text.lastIndexOf(piece)) return { before, after };
  }
}

function occurrences(text: string, anchor: string): number[] {
  if (anchor === "") return text === "" ? [0] : [];
  const found: number[] = [];
  for (let at = text.indexOf(anchor); at >= 0; at = text.indexOf(anchor, at + 1)) {
    found.push(at);
    if (found.length >= OCCURRENCES_MAX) break;
  }
  return found;
}

/** The occurrence that is meant; null if that cannot be told. */
function choose(text: string, found: readonly number[], line: number | undefined): number | null {
  const [only] = found;
  if (only === undefined || found.length === 1) return only ?? null;
  if (line === undefined) return null;
  const distances = lineNumbers(text, found).map((one) => Math.abs(one - line));
  const nearest = Math.min(...distances);
  const first = distances.indexOf(nearest);
  return distances.lastIndexOf(nearest) === first ? (found[first] ?? null) : null;
}

function linesOf(text: string, found: readonly number[]): number[] {
  return lineNumbers(text, found.slice(0, LINES_NAMED_MAX));
}

/** Lines, counted from 1, of places that are in order. */
function lineNumbers(text: string, places: readonly number[]): number[] {
  let line = 1;
  let at = 0;
  return places.map((place) => {
    for (let next = text.indexOf("\n", at); next >= 0 && next < place; next = text.indexOf("\n", at)) {
      line += 1;
      at = next + 1;
    }
    return line;
  });
}
