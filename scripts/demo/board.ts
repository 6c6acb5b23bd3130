/**
 * The live board: how far the tree is, who holds what, what happened last. On a terminal it is
 * drawn again in place; anywhere else, and for whoever reads it later, it is plain lines.
 */
import { stripVTControlCharacters, styleText } from "node:util";

export interface Seat {
  readonly name: string;
  readonly state: "working" | "waiting" | "killed";
  /** What it holds. A killed one still does, until its claim has lapsed and somebody takes over. */
  readonly holds: { readonly title: string; readonly msLeft: number } | null;
}

interface Snapshot {
  readonly done: number;
  readonly total: number;
  readonly elapsedMs: number;
  readonly seats: readonly Seat[];
}

export interface Board {
  /** Something happened that is worth a line. */
  tell(elapsedMs: number, text: string): void;
  show(snapshot: Snapshot): void;
  /** Leaves the last state standing; what is printed next comes below it. */
  close(): void;
}

type Style = Parameters<typeof styleText>[0];
type Paint = (style: Style, text: string) => string;

export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

const BAR_WIDTH = 30;
const EVENTS_SHOWN = 6;
/** A board that is higher than the screen scrolls away, and cannot be drawn again in place. */
const ROWS_MIN = 20;
const PLAIN_EVERY_MS = 2_000;
const CLEAR_BELOW = "\u001B[0J";
const HIDE_CURSOR = "\u001B[?25l";
const SHOW_CURSOR = "\u001B[?25h";

/** @param environment `NO_COLOR` turns colours off. */
export function createBoard(screen: Screen, headline: string, environment: NodeJS.ProcessEnv): Board {
  const { isTTY = false, rows = ROWS_MIN } = screen;
  return isTTY && rows >= ROWS_MIN && environment["TERM"] !== "dumb"
    ? liveBoard(screen, headline, environment["NO_COLOR"] ? withoutColour : withColour)
    : plainBoard(screen, headline);
}

// The streams are ours to judge: `isTTY` and NO_COLOR have been looked at.
const withColour: Paint = (style, text) => styleText(style, text, { validateStream: false });
const withoutColour: Paint = (_style, text) => text;

function liveBoard(screen: Screen, headline: string, paint: Paint): Board {
  const events: string[] = [];
  let drawn = 0;
  screen.write(HIDE_CURSOR);
  return {
    tell(elapsedMs, text) {
      events.push(`${paint("dim", clock(elapsedMs))} ${text}`);
      if (events.length > EVENTS_SHOWN) events.shift();
    },
    show(snapshot) {
      const lines = [
        paint("bold", headline),
        "",
        progressLine(snapshot, paint),
        "",
        ...snapshot.seats.map((seat) => seatLine(seat, paint)),
        "",
        ...events,
      ].map((line) => fit(line, screen.columns ?? 80));
      const up = drawn > 0 ? `\u001B[${drawn}A\r` : "";
      screen.write(`${up}${CLEAR_BELOW}${lines.join("\n")}\n`);
      drawn = lines.length;
    },
    close() {
      screen.write(`${SHOW_CURSOR}\n`);
    },
  };
}

function plainBoard(screen: Screen, headline: string): Board {
  let shownAtMs = Number.NEGATIVE_INFINITY;
  screen.write(`${headline}\n`);
  return {
    tell: (elapsedMs, text) => void screen.write(`${clock(elapsedMs)} ${text}\n`),
    show(snapshot) {
      const { done, total, elapsedMs, seats } = snapshot;
      if (elapsedMs - shownAtMs < PLAIN_EVERY_MS && done < total) return;
      shownAtMs = elapsedMs;
      const working = seats.filter(({ state }) => state === "working").length;
      screen.write(`${clock(elapsedMs)} ${done} of ${total} items done, ${working} workers busy\n`);
    },
    close: () => void screen.write("\n"),
  };
}

function progressLine({ done, total, elapsedMs }: Snapshot, paint: Paint): string {
  const filled = total === 0 ? 0 : Math.floor((BAR_WIDTH * done) / total);
  const bar = paint("green", "█".repeat(filled)) + paint("dim", "░".repeat(BAR_WIDTH - filled));
  return `${bar} ${done} of ${total} items done, ${(elapsedMs / 1_000).toFixed(1)} s`;
}

function seatLine({ name, state, holds }: Seat, paint: Paint): string {
  const who = name.padEnd(10);
  if (state === "killed") {
    const rest = holds === null ? "" : `, its claim on "${holds.title}" ${leftOf(holds.msLeft)}`;
    return paint("red", `  ✖ ${who}killed${rest}`);
  }
  if (holds === null) return paint("dim", `  · ${who}waits for something to become ready`);
  return `  ${paint("cyan", "▶")} ${who}${holds.title} ${paint("dim", leftOf(holds.msLeft))}`;
}

function leftOf(msLeft: number): string {
  return msLeft > 0 ? `(${(msLeft / 1_000).toFixed(1)} s left)` : "(lapsed)";
}

function clock(elapsedMs: number): string {
  return `${(elapsedMs / 1_000).toFixed(1).padStart(5)}s`;
}

/** A line that wraps would be drawn over by the next one. */
function fit(line: string, columns: number): string {
  const plain = stripVTControlCharacters(line);
  return plain.length < columns ? line : `${plain.slice(0, Math.max(0, columns - 2))}…`;
}
