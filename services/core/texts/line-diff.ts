/**
 * What is different between two texts, line by line. Bounded: texts that have too little in
 * common are one large difference, since finding the smallest one would take the square of it.
 */
import { type AppliedEdit, replaceAt } from "./edit-text.ts";

/** Lines `fromStart` to `fromEnd` of the one text stand where those of the other are; ends are exclusive. */
export interface Difference {
  readonly fromStart: number;
  readonly fromEnd: number;
  readonly toStart: number;
  readonly toEnd: number;
}

/** Beyond so many different lines the smallest difference is not looked for. */
const STEPS_MAX = 400;

/** Lines with their line feeds, so that joining them gives the text. */
export function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n").map((line, index, all) => (index < all.length - 1 ? `${line}\n` : line));
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

export function differences(from: readonly string[], to: readonly string[]): Difference[] {
  let head = 0;
  while (head < from.length && head < to.length && from[head] === to[head]) head += 1;
  let tail = 0;
  while (
    tail < from.length - head &&
    tail < to.length - head &&
    from[from.length - 1 - tail] === to[to.length - 1 - tail]
  ) {
    tail += 1;
  }
  const left = from.slice(head, from.length - tail);
  const right = to.slice(head, to.length - tail);
  if (left.length === 0 && right.length === 0) return [];
  return script(left, right).map((one) => ({
    fromStart: one.fromStart + head,
    fromEnd: one.fromEnd + head,
    toStart: one.toStart + head,
    toEnd: one.toEnd + head,
  }));
}

/** The shortest script of Myers, as the stretches between lines that both have. */
function script(left: readonly string[], right: readonly string[]): Difference[] {
  const whole = { fromStart: 0, fromEnd: left.length, toStart: 0, toEnd: right.length };
  if (left.length === 0 || right.length === 0) return [whole];
  const path = shortestPath(left, right);
  if (path === null) return [whole];
  const found: Difference[] = [];
  let x = 0;
  let y = 0;
  for (const [matchX, matchY] of [...path, [left.length, right.length] as const]) {
    if (matchX > x || matchY > y) found.push({ fromStart: x, fromEnd: matchX, toStart: y, toEnd: matchY });
    x = matchX + 1;
    y = matchY + 1;
  }
  return found;
}

/** Pairs of lines that stay, in order; null if there are too many steps between the texts. */
function shortestPath(
  left: readonly string[],
  right: readonly string[],
): (readonly [number, number])[] | null {
  const trace: Map<number, number>[] = [];
  let reach = new Map<number, number>([[1, 0]]);
  for (let steps = 0; steps <= STEPS_MAX; steps += 1) {
    trace.push(reach);
    const next = new Map(reach);
    for (let diagonal = -steps; diagonal <= steps; diagonal += 2) {
      const below = reach.get(diagonal + 1) ?? -1;
      const beside = reach.get(diagonal - 1) ?? -1;
      let x = diagonal === -steps || (diagonal !== steps && beside < below) ? below : beside + 1;
      while (x < left.length && x - diagonal < right.length && left[x] === right[x - diagonal]) x += 1;
      next.set(diagonal, x);
      if (x >= left.length && x - diagonal >= right.length) return walkBack(trace, left.length, right.length);
    }
    reach = next;
  }
  return null;
}

function walkBack(trace: readonly ReadonlyMap<number, number>[], endX: number, endY: number) {
  const pairs: (readonly [number, number])[] = [];
  let x = endX;
  let y = endY;
  for (let steps = trace.length - 1; steps >= 0; steps -= 1) {
    const reach = trace[steps] ?? new Map<number, number>();
    const diagonal = x - y;
    const below = reach.get(diagonal + 1) ?? -1;
    const beside = reach.get(diagonal - 1) ?? -1;
    const previous =
      diagonal === -steps || (diagonal !== steps && beside < below) ? diagonal + 1 : diagonal - 1;
    const previousX = reach.get(previous) ?? 0;
    const previousY = previousX - previous;
    while (x > previousX && y > previousY && x > 0 && y > 0) {
      x -= 1;
      y -= 1;
      pairs.push([x, y]);
    }
    x = previousX;
    y = previousY;
  }
  return pairs.toReversed();
}

/** The edits that make one text of the other, as if an agent had sent them by anchor. */
export function editsBetween(from: string, to: string): AppliedEdit[] {
  const fromLines = linesOf(from);
  const toLines = linesOf(to);
  const applied: AppliedEdit[] = [];
  let text = from;
  // From the end, so that the places before it stay where they are.
  for (const one of differences(fromLines, toLines).toReversed()) {
    const at = fromLines.slice(0, one.fromStart).join("").length;
    const old = fromLines.slice(one.fromStart, one.fromEnd).join("");
    const edited = replaceAt(text, at, old.length, toLines.slice(one.toStart, one.toEnd).join(""));
    applied.push(edited.applied);
    text = edited.text;
  }
  return applied;
}

export interface RenderedDiff {
  readonly text: string;
  readonly linesAdded: number;
  readonly linesRemoved: number;
  readonly truncated: boolean;
}

/** In the form that every tool shows differences in, at most `max` characters of it. */
export function unifiedDiff(from: string, to: string, max: number, context = 2): RenderedDiff {
  const fromLines = linesOf(from);
  const toLines = linesOf(to);
  const found = differences(fromLines, toLines);
  const parts: string[] = [];
  let length = 0;
  let truncated = false;
  const add = (line: string): void => {
    length += line.length + 1;
    truncated ||= length > max;
    if (!truncated) parts.push(line);
  };
  for (const group of grouped(found, context)) {
    const first = group[0];
    const last = group.at(-1);
    if (first === undefined || last === undefined) continue;
    const start = Math.max(0, first.fromStart - context);
    const end = Math.min(fromLines.length, last.fromEnd + context);
    const toStart = first.toStart - (first.fromStart - start);
    const toEnd = last.toEnd + (end - last.fromEnd);
    add(`@@ -${span(start, end)} +${span(toStart, toEnd)} @@`);
    let at = start;
    for (const one of group) {
      for (const line of fromLines.slice(at, one.fromStart)) add(` ${bare(line)}`);
      for (const line of fromLines.slice(one.fromStart, one.fromEnd)) add(`-${bare(line)}`);
      for (const line of toLines.slice(one.toStart, one.toEnd)) add(`+${bare(line)}`);
      at = one.fromEnd;
    }
    for (const line of fromLines.slice(at, end)) add(` ${bare(line)}`);
  }
  return {
    text: parts.join("\n"),
    linesAdded: found.reduce((sum, one) => sum + one.toEnd - one.toStart, 0),
    linesRemoved: found.reduce((sum, one) => sum + one.fromEnd - one.fromStart, 0),
    truncated,
  };
}

/** Differences whose contexts touch are shown together. */
function grouped(found: readonly Difference[], context: number): Difference[][] {
  const groups: Difference[][] = [];
  for (const one of found) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group !== undefined && last !== undefined && one.fromStart - last.fromEnd <= 2 * context)
      group.push(one);
    else groups.push([one]);
  }
  return groups;
}

function span(start: number, end: number): string {
  const count = end - start;
  return `${count === 0 ? start : start + 1},${count}`;
}

function bare(line: string): string {
  return line.endsWith("\n") ? line.slice(0, -1) : line;
}
