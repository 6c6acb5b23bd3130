/**
 * The part of a text that shows why it was found, with what was found marked. Texts are compared folded (small
 * letters, no accents), as the database compares them, and shown as they were written.
 */
import { clipText } from "./clip-text.ts";

export interface Passage {
  /** One line, matches between `<mark>` and `</mark>`. */
  readonly snippet: string;
  /** How many different needles are in the whole text. */
  readonly found: number;
}

/** Text kept before the first match, so that it is read in its context. */
const BEFORE = 40;
/** Marks beyond these would cost more than the text they mark. */
const MARKS_MAX = 8;

/** A passage of at most `max` characters, marks aside. `needles` are folded already. */
export function findPassage(text: string, needles: readonly string[], max: number): Passage {
  const flat = text.replace(/\s+/g, " ").trim();
  const folded = fold(flat);
  const present = needles.filter((needle) => needle !== "" && folded.text.includes(needle));
  const starts = present.map((needle) => folded.text.indexOf(needle));
  const first = starts.length === 0 ? 0 : (folded.at[Math.min(...starts)] ?? 0);
  const from = first <= BEFORE || flat.length <= max ? 0 : wordStart(flat, first - BEFORE);
  const part = clipText(flat.slice(from), max);
  return { snippet: `${from > 0 ? "…" : ""}${marked(part, present)}`, found: present.length };
}

function wordStart(text: string, near: number): number {
  const space = text.indexOf(" ", near);
  if (space >= 0 && space - near < BEFORE / 2) return space + 1;
  // Never between the halves of a pair.
  return /[\udc00-\udfff]/.test(text.charAt(near)) ? near + 1 : near;
}

interface Folded {
  readonly text: string;
  /** Position in the original of each position of `text`, and its end. */
  readonly at: readonly number[];
}

function fold(text: string): Folded {
  let folded = "";
  const at: number[] = [];
  let position = 0;
  for (const letter of text) {
    const plain = letter
      .normalize("NFKD")
      .replaceAll(/[\u0300-\u036f]/g, "")
      .normalize("NFC")
      .toLowerCase();
    for (let i = 0; i < plain.length; i += 1) at.push(position);
    folded += plain;
    position += letter.length;
  }
  at.push(position);
  return { text: folded, at };
}

function marked(part: string, needles: readonly string[]): string {
  const { text, at } = fold(part);
  // The longest first: a stem is inside the word that was typed.
  const byLength = needles.toSorted((a, b) => b.length - a.length);
  let out = "";
  let shown = 0;
  let marks = 0;
  for (let i = 0; i < text.length && marks < MARKS_MAX;) {
    const needle = byLength.find((one) => text.startsWith(one, i));
    if (needle === undefined) {
      i += 1;
      continue;
    }
    const [start, end] = [at[i] ?? 0, at[i + needle.length] ?? part.length];
    out += `${part.slice(shown, start)}<mark>${part.slice(start, end)}</mark>`;
    shown = end;
    marks += 1;
    i += needle.length;
  }
  return out + part.slice(shown);
}
