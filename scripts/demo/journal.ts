/**
 * What a worker did, in its own words: one line per step, appended before the next step begins.
 * A worker that is killed leaves everything but its unfinished line, so the files of all workers
 * together are a second account of the run that owes nothing to the server.
 */
import { appendFileSync, closeSync, openSync, readSync } from "node:fs";

interface OfTenure {
  /** Wall clock, in milliseconds. */
  readonly at: number;
  readonly itemId: string;
  readonly fence: number;
  /** The session that held the item. */
  readonly workerId: string;
}

export interface StartedLine extends OfTenure {
  readonly kind: "started";
  readonly title: string;
  /** Which try the server said this is. */
  readonly attempt: number;
  /** How long the work will take. */
  readonly workMs: number;
}

/** The server accepted the finished item. */
interface FinishedLine extends OfTenure {
  readonly kind: "finished";
}

/** The tenure ended without the item being finished. */
export interface EndedLine extends OfTenure {
  readonly kind: "ended";
  readonly how: "lost" | "handed_back" | "failed" | "undelivered";
  readonly reason: string;
}

export type JournalLine = StartedLine | FinishedLine | EndedLine;

/** Names the tenure that a line is about. */
export function tenureOf({ itemId, fence }: JournalLine): string {
  return `${itemId}/${fence}`;
}

/** Writes a line before it returns: what happens next may be SIGKILL. */
export function appendLine(path: string, line: JournalLine): void {
  appendFileSync(path, `${JSON.stringify(line)}\n`);
}

export interface JournalTail {
  /** Everything read so far, oldest first. */
  readonly lines: readonly JournalLine[];
  /** Reads on, and returns what is new. A line that is still being written waits for the next time. */
  readNew(): readonly JournalLine[];
}

/** Follows a journal; one that nobody has begun yet is empty. */
export function followJournal(path: string): JournalTail {
  const lines: JournalLine[] = [];
  let offset = 0;
  let rest = "";
  return {
    lines,
    readNew() {
      const text = rest + readFrom(path, offset, (read) => (offset += read));
      const parts = text.split("\n");
      rest = parts.pop() ?? "";
      const fresh = parts.map((part) => JSON.parse(part) as JournalLine);
      lines.push(...fresh);
      return fresh;
    },
  };
}

function readFrom(path: string, offset: number, onRead: (bytes: number) => void): string {
  const chunks: Buffer[] = [];
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
  try {
    for (let position = offset; ;) {
      const chunk = Buffer.alloc(65_536);
      const bytes = readSync(file, chunk, 0, chunk.length, position);
      if (bytes === 0) break;
      position += bytes;
      onRead(bytes);
      chunks.push(chunk.subarray(0, bytes));
    }
  } finally {
    closeSync(file);
  }
  return Buffer.concat(chunks).toString("utf8");
}
