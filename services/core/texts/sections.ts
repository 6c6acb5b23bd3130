/**
 * The sections of a Markdown text, by the slugs of their headings. Only headings of the text
 * itself count: what looks like one inside of code, quotes and lists belongs to the section
 * that it stands in. A shell comment in an example would otherwise cut a section in two.
 */

export interface Section {
  /** Empty if the heading has neither letters nor digits: nothing can ask for it then. */
  readonly slug: string;
  /** 1 for the highest. */
  readonly level: number;
  readonly title: string;
  /** Position of the heading among the lines. */
  readonly line: number;
  /** The first line that no longer belongs to it. */
  readonly end: number;
}

interface Heading {
  readonly level: number;
  readonly title: string;
  readonly line: number;
}

/** In order; a section holds those of lower levels that follow it. */
export function sectionsOf(text: string): Section[] {
  const lines = linesOf(text);
  const headings = headingsOf(lines);
  const slugs = uniqueSlugs(headings.map(({ title }) => slugOf(title)));
  const ends = endsOf(headings, lines.length);
  return headings.map((heading, index) => ({
    ...heading,
    slug: slugs[index] ?? "",
    end: ends[index] ?? lines.length,
  }));
}

/** A section with its heading, without the blank lines after it; empty if there is nothing but the heading. */
export function textOfSection(text: string, { line, end }: Section): string {
  const [heading = "", ...rest] = linesOf(text).slice(line, end);
  const body = rest.join("\n").trimEnd();
  return body === "" ? "" : `${heading}\n${body}`;
}

/** Lower case, with `-` between words: "What's new?" is `whats-new`. */
export function slugOf(title: string): string {
  return title
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .normalize("NFC")
    .toLowerCase()
    .replace(/['’]/g, "")
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "");
}

function linesOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/);
}

/** The second of the same slug ends with -2, the third with -3; never with a number that another heading has. */
function uniqueSlugs(slugs: readonly string[]): string[] {
  const used = new Set<string>();
  const next = new Map<string, number>();
  return slugs.map((slug) => {
    if (slug === "") return slug;
    let unique = slug;
    for (let number = next.get(slug) ?? 2; used.has(unique); number += 1) {
      unique = `${slug}-${number}`;
      next.set(slug, number + 1);
    }
    used.add(unique);
    return unique;
  });
}

function endsOf(headings: readonly Heading[], length: number): number[] {
  const ends = headings.map(() => length);
  const open: number[] = [];
  for (const [index, { level, line }] of headings.entries()) {
    for (
      let top = open.at(-1);
      top !== undefined && (headings[top]?.level ?? 0) >= level;
      top = open.at(-1)
    ) {
      ends[top] = line;
      open.pop();
    }
    open.push(index);
  }
  return ends;
}

const HEADING = /^(#{1,6})(?:[ \t]+(.*))?$/;
const CLOSING_MARKS = /(?:^|[ \t]+)#+[ \t]*$/;
const FENCE = /^(?:(`{3,})[^`]*|(~{3,}).*)$/;
const LIST_MARK = /^(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)/;

interface Fence {
  readonly mark: string;
  /** Columns that its lines are indented by at least, since it stands in a list. */
  readonly indent: number;
}

function headingsOf(lines: readonly string[]): Heading[] {
  const headings: Heading[] = [];
  /** Columns at which the texts of the lists around begin. */
  const lists: number[] = [];
  let fence: Fence | null = null;
  for (const [line, raw] of lines.entries()) {
    const text = raw.trim();
    if (text === "") continue;
    const indent = columnsBefore(raw);
    if (fence !== null && indent >= fence.indent) {
      if (closes(fence, text, indent)) fence = null;
      continue;
    }
    // A fence ends with the list that it stands in.
    fence = null;
    while (indent < (lists.at(-1) ?? 0)) lists.pop();
    const heading = lists.length === 0 && indent < 4 ? HEADING.exec(text) : null;
    if (heading !== null) {
      const title = (heading[2] ?? "").replace(CLOSING_MARKS, "").trim();
      headings.push({ level: heading[1]?.length ?? 1, title, line });
    } else fence = enter(text, indent, lists);
  }
  return headings;
}

/** Enters the lists that a line begins, and answers the fence that it opens behind them. */
function enter(line: string, column: number, lists: number[]): Fence | null {
  let text = line;
  let indent = column;
  for (;;) {
    // So far to the right it is code as it stands.
    if (indent - (lists.at(-1) ?? 0) >= 4) return null;
    const mark = LIST_MARK.exec(text)?.[0];
    if (mark === undefined) break;
    const behind = text.slice(mark.length);
    text = behind.trim();
    const gap = columnsBefore(behind);
    // With more than four columns after its mark, the text of a list begins one after it, and is code.
    indent += mark.length + gap;
    lists.push(text === "" || gap > 4 ? indent - gap + 1 : indent);
    if (text === "") return null;
  }
  const opened = FENCE.exec(text);
  const mark = opened?.[1] ?? opened?.[2];
  return mark === undefined ? null : { mark, indent: lists.at(-1) ?? 0 };
}

function closes({ mark, indent: container }: Fence, text: string, indent: number): boolean {
  const char = mark[0] ?? "";
  return indent - container < 4 && text.length >= mark.length && text === char.repeat(text.length);
}

function columnsBefore(text: string): number {
  let columns = 0;
  for (const char of text) {
    if (char === " ") columns += 1;
    else if (char === "\t") columns += 4 - (columns % 4);
    else break;
  }
  return columns;
}
