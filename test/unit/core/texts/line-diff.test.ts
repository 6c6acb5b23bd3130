import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { undoEdits } from "../../../../services/core/texts/edit-text.ts";
import {
  differences,
  editsBetween,
  linesOf,
  unifiedDiff,
} from "../../../../services/core/texts/line-diff.ts";

describe("differences between texts", () => {
  it("shows what was there, what is there, and where", () => {
    const from = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n";
    const to = "a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nk\n";
    expect(unifiedDiff(from, to, 1_000)).toEqual({
      text: "@@ -1,4 +1,4 @@\n a\n-b\n+B\n c\n d\n@@ -9,2 +9,3 @@\n i\n j\n+k",
      linesAdded: 2,
      linesRemoved: 1,
      truncated: false,
    });
    expect(unifiedDiff(from, from, 1_000)).toMatchObject({ text: "", linesAdded: 0 });
  });

  it("stops where the answer would grow too long, and says so", () => {
    const shown = unifiedDiff("", "line\n".repeat(1_000), 100);
    expect(shown).toMatchObject({ truncated: true, linesAdded: 1_000 });
    expect(shown.text.length).toBeLessThanOrEqual(100);
  });

  it("leads from any text to any other, by the fewest lines", () => {
    const text = fc
      .array(fc.constantFrom("a\n", "b\n", "c\n", "\n", "d"), { maxLength: 30 })
      .map((all) => all.join(""));
    fc.assert(
      fc.property(text, text, (from, to) => {
        const [left, right] = [linesOf(from), linesOf(to)];
        expect(left.join("")).toBe(from);
        const lines: string[] = [];
        let at = 0;
        for (const one of differences(left, right)) {
          lines.push(...left.slice(at, one.fromStart), ...right.slice(one.toStart, one.toEnd));
          at = one.fromEnd;
        }
        expect([...lines, ...left.slice(at)]).toEqual(right);
        const changed = differences(left, right).reduce(
          (sum, one) => sum + one.fromEnd - one.fromStart + one.toEnd - one.toStart,
          0,
        );
        expect(changed).toBe(left.length + right.length - 2 * commonLength(left, right));
      }),
    );
  });

  it("makes edits that can be undone of any two texts", () => {
    const text = fc
      .array(fc.constantFrom("a\n", "b\n", "c\n", "\n", "d"), { maxLength: 30 })
      .map((all) => all.join(""));
    fc.assert(
      fc.property(text, text, (from, to) => {
        expect(undoEdits(to, editsBetween(from, to))).toMatchObject({ kind: "undone", text: from });
      }),
    );
  });

  it("takes texts with nothing in common as one difference, in little time", () => {
    const from = Array.from({ length: 20_000 }, (_, n) => `${n}\n`);
    const to = Array.from({ length: 20_000 }, (_, n) => `${-n - 1}\n`);
    const started = performance.now();
    expect(differences(from, to)).toHaveLength(1);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

/** The length of the longest common subsequence, by the table that everybody knows. */
function commonLength(left: readonly string[], right: readonly string[]): number {
  let row = Array.from<number>({ length: right.length + 1 }).fill(0);
  for (const one of left) {
    const next = [0];
    for (const [index, other] of right.entries()) {
      next.push(one === other ? (row[index] ?? 0) + 1 : Math.max(row[index + 1] ?? 0, next[index] ?? 0));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
