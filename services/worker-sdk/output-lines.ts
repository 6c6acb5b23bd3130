/** What a program writes: passed through line by line, and its end kept as evidence. */
import { StringDecoder } from "node:string_decoder";

export interface LineReader {
  write(chunk: Buffer): void;
  /** Hands out a last line that had no end. */
  end(): void;
}

/** Longer lines are passed on in pieces, so that a program that never ends one cannot fill the memory. */
const LINE_LENGTH_MAX = 64 * 1024;

/** Splits bytes into lines, whatever the chunks: lines of several programs must not be mixed within. */
export function createLineReader(onLine: (line: string) => void): LineReader {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  const take = (text: string): void => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line.endsWith("\r") ? line.slice(0, -1) : line);
    if (rest.length <= LINE_LENGTH_MAX) return;
    onLine(rest);
    rest = "";
  };
  return {
    write: (chunk) => take(decoder.write(chunk)),
    end() {
      take(decoder.end());
      if (rest !== "") onLine(rest);
      rest = "";
    },
  };
}

export interface Tail {
  add(line: string): void;
  text(): string;
}

/** Keeps the last whole lines that fit into `sizeMaxBytes`; of a longer last line its end. */
export function createTail(sizeMaxBytes: number): Tail {
  const lines: string[] = [];
  let size = 0;
  const sizeOf = (line: string): number => Buffer.byteLength(line) + 1;
  return {
    add(line) {
      const kept = sizeOf(line) <= sizeMaxBytes ? line : endOf(line, sizeMaxBytes - 1);
      lines.push(kept);
      size += sizeOf(kept);
      while (size > sizeMaxBytes) size -= sizeOf(lines.shift() ?? "");
    },
    text: () => lines.join("\n"),
  };
}

function endOf(line: string, sizeBytes: number): string {
  const bytes = Buffer.from(line);
  let start = bytes.length - sizeBytes;
  // Not in the middle of a character: continuation bytes are 10xxxxxx.
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.subarray(start).toString("utf8");
}
