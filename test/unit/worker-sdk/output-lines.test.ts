import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLineReader, createTail } from "../../../services/worker-sdk/output-lines.ts";

function linesOf(chunks: readonly Buffer[]): string[] {
  const lines: string[] = [];
  const reader = createLineReader((line) => lines.push(line));
  for (const chunk of chunks) reader.write(chunk);
  reader.end();
  return lines;
}

describe("line reader", () => {
  it("finds the same lines however the bytes are cut", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme" })), fc.array(fc.nat(20)), (texts, cuts) => {
        const lines = texts.map((text) => text.replaceAll(/[\r\n]/g, " "));
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
        const chunks: Buffer[] = [];
        let from = 0;
        for (const cut of cuts) chunks.push(bytes.subarray(from, (from += cut)));
        chunks.push(bytes.subarray(from));
        expect(linesOf(chunks)).toEqual(lines);
      }),
    );
  });

  it("hands out a last line without an end, and drops carriage returns", () => {
    expect(linesOf([Buffer.from("one\r\ntwo")])).toEqual(["one", "two"]);
  });

  it("does not let a line without an end fill the memory", () => {
    const lines = linesOf([Buffer.alloc(200_000, "x")]);
    expect(lines.join("")).toHaveLength(200_000);
  });
});

describe("tail", () => {
  it("keeps the last whole lines that fit", () => {
    const tail = createTail(12);
    for (const line of ["first", "second", "third"]) tail.add(line);
    expect(tail.text()).toBe("third");
    tail.add("4");
    expect(tail.text()).toBe("third\n4");
  });

  it("keeps the end of a line that is too long by itself, cut between characters", () => {
    const tail = createTail(6);
    tail.add("aaaa€€");
    expect(tail.text()).toBe("€");
  });

  it("never holds more than its size", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "grapheme" })),
        fc.integer({ min: 8, max: 64 }),
        (lines, size) => {
          const tail = createTail(size);
          for (const line of lines) tail.add(line);
          expect(Buffer.byteLength(tail.text())).toBeLessThanOrEqual(size);
        },
      ),
    );
  });
});
