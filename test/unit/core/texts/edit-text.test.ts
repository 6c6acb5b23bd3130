import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyEdits, undoEdits } from "../../../../services/core/texts/edit-text.ts";

function edited(text: string, ...edits: Parameters<typeof applyEdits>[1]) {
  const verdict = applyEdits(text, edits);
  if (verdict.kind !== "edited") throw new Error(verdict.kind);
  return verdict;
}

describe("editing a text by anchor", () => {
  it("names every line of an anchor that occurs twice [P-27]", () => {
    expect(applyEdits("one\ntwo\none", [{ old: "one", new: "1" }])).toEqual({
      kind: "ambiguous",
      index: 0,
      lines: [1, 3],
    });
  });

  it("applies nothing if a later edit cannot be applied [P-27]", () => {
    const edits = [
      { old: "one", new: "1" },
      { old: "three", new: "3" },
    ];
    expect(applyEdits("one\ntwo", edits)).toEqual({ kind: "missing", index: 1 });
  });

  it("lets an edit build on the one before it", () => {
    expect(edited("a b", { old: "a", new: "x" }, { old: "x b", new: "done" }).text).toBe("done");
  });

  it("takes the occurrence nearest to the named line, and none if two are equally near", () => {
    expect(edited("x\n\nx\n\nx", { old: "x", new: "y", line: 5 }).text).toBe("x\n\nx\n\ny");
    expect(applyEdits("x\n\nx", [{ old: "x", new: "y", line: 2 }])).toMatchObject({ kind: "ambiguous" });
  });

  it("finds an anchor that overlaps itself twice", () => {
    expect(applyEdits("aaa", [{ old: "aa", new: "b" }])).toMatchObject({ kind: "ambiguous" });
  });

  it("takes an empty anchor in an empty text only", () => {
    expect(edited("", { old: "", new: "first" }).text).toBe("first");
    expect(applyEdits("a", [{ old: "", new: "b" }])).toMatchObject({ kind: "missing" });
  });
});

describe("undoing edits", () => {
  const text =
    "first line\nsecond line\nthird line of it\nfourth line of this text\nfifth line, and the last";

  it("keeps later edits elsewhere [P-29]", () => {
    const first = edited(text, { old: "first", new: "1st" });
    const later = edited(first.text, { old: "the last", new: "the end" });
    expect(undoEdits(later.text, first.applied)).toMatchObject({
      kind: "undone",
      text: text.replace("the last", "the end"),
    });
  });

  it("is refused once the text it wrote was edited [P-29]", () => {
    const first = edited(text, { old: "first", new: "1st" });
    const later = edited(first.text, { old: "1st", new: "No. 1" });
    expect(undoEdits(later.text, first.applied)).toEqual({ kind: "touched_since" });
  });

  it("puts back what was deleted, where it was", () => {
    const gone = edited("keep drop keep", { old: "drop ", new: "" });
    expect(undoEdits(gone.text, gone.applied)).toMatchObject({ text: "keep drop keep" });
  });

  it("undoes any edits, and the undo in turn", () => {
    const word = fc.constantFrom("a", "b", "ab", "\n", "xyz");
    const chosen = fc.tuple(fc.nat(), fc.nat({ max: 8 }), fc.array(word, { maxLength: 4 }));
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 40 }),
        fc.array(chosen, { minLength: 1, maxLength: 5 }),
        (words, picks) => {
          let current = words.join("");
          const edits = [];
          for (const [at, length, instead] of picks) {
            const start = current.length === 0 ? 0 : at % current.length;
            const old = current.slice(start, start + length);
            const edit = { old, new: instead.join("") };
            const verdict = applyEdits(current, [edit]);
            if (verdict.kind !== "edited") continue;
            current = verdict.text;
            edits.push(edit);
          }
          const all = edited(words.join(""), ...edits);
          const back = undoEdits(all.text, all.applied);
          if (back.kind !== "undone") throw new Error("nothing touched it");
          expect(back.text).toBe(words.join(""));
          expect(undoEdits(back.text, back.applied)).toMatchObject({ text: all.text });
        },
      ),
    );
  });
});
