import { describe, expect, it } from "vitest";
import { clipText } from "../../../services/core/texts/clip-text.ts";
import { findPassage } from "../../../services/core/texts/snippet.ts";
import { orderChain } from "../../../services/core/dependency-chain.ts";

describe("a passage", () => {
  it("shows the text around what was found, as it was written, on one line", () => {
    const text = `${"before ".repeat(30)}the\nGRÖSSE of it${" after".repeat(30)}`;
    const { snippet, found } = findPassage(text, ["grosse", "absent"], 60);
    expect(found).toBe(1);
    expect(snippet).toContain("the <mark>GRÖSSE</mark> of it");
    expect(snippet.startsWith("…")).toBe(true);
    expect(snippet.endsWith("…")).toBe(true);
    expect(snippet.length).toBeLessThan(60 + "<mark></mark>".length + 2);
  });

  it("marks the whole word that was typed, not the stem inside it", () => {
    expect(findPassage("running", ["run", "running"], 50).snippet).toBe("<mark>running</mark>");
  });

  it("is the beginning of a text that has nothing of it", () => {
    expect(findPassage("some words", ["other"], 50)).toEqual({ snippet: "some words", found: 0 });
  });
});

describe("a clipped text", () => {
  it("never ends in half a character", () => {
    expect(clipText("ab😀cd", 4)).toBe("ab…");
    expect(clipText("abcd", 4)).toBe("abcd");
    expect(clipText("abc", 0)).toBe("");
  });
});

describe("the order of a graph of dependencies", () => {
  it("keeps what lies in a circle, last", () => {
    const edges = [
      { from: "a", to: "b" },
      { from: "b", to: "c" },
      { from: "c", to: "b" },
    ];
    expect(orderChain("a", edges)).toEqual({ order: ["a", "b", "c"], depth: 1 });
  });
});
