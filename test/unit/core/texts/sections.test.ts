/** Sections of a Markdown text: which headings count, what they are called, and what belongs to them. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sectionsOf, slugOf, textOfSection } from "../../../../services/core/texts/sections.ts";

const slugs = (...lines: string[]): string[] => sectionsOf(lines.join("\n")).map((one) => one.slug);
const textOf = (text: string, slug: string): string | undefined => {
  const section = sectionsOf(text).find((one) => one.slug === slug);
  return section === undefined ? undefined : textOfSection(text, section);
};

describe("slugs of headings", () => {
  it("are lower case, with one dash between words", () => {
    expect(slugOf("What's new?")).toBe("whats-new");
    expect(slugOf("  API v2 — the (draft) ")).toBe("api-v2-the-draft");
    expect(slugOf("`db/migrate.ts` & friends")).toBe("db-migrate-ts-friends");
    expect(slugOf("See [the docs](https://example.org/a)")).toBe("see-the-docs");
    expect(slugOf("Größe 數量")).toBe("größe-數量");
    expect(slugOf("***")).toBe("");
  });

  it("of the same name are numbered, past the numbers that other headings have", () => {
    expect(slugs("# A", "# a", "## A!")).toEqual(["a", "a-2", "a-3"]);
    expect(slugs("# A", "# A 2", "# A", "# A")).toEqual(["a", "a-2", "a-3", "a-4"]);
    expect(slugs("# A", "# A", "# A 2")).toEqual(["a", "a-2", "a-2-2"]);
  });
});

describe("headings", () => {
  it("begin with one to six marks and a space, at most three columns from the left", () => {
    expect(
      slugs("# a", "   ###### b", "####### c", "#d", "    # e", "\t# f", "## g ##", "## h#", "#"),
    ).toEqual(["a", "b", "g", "h", ""]);
  });

  it("inside of fences are none, whatever the fence is made of", () => {
    expect(slugs("```sh", "# a", "```", "# b")).toEqual(["b"]);
    expect(slugs("~~~~", "# a", "~~~", "# b", "```", "~~~~ ", "# c")).toEqual(["c"]);
    expect(slugs("```", "# a", "``` no end", "# b", "````", "# c")).toEqual(["c"]);
    expect(slugs("```", "# a")).toEqual([]);
    expect(slugs("``` `no fence`", "# a")).toEqual(["a"]);
    expect(slugs("    ```", "# a")).toEqual(["a"]);
  });

  it("inside of lists and quotes are none, and a fence of a list ends with the list", () => {
    expect(slugs("- ```", "  # a", "  ```", "# b")).toEqual(["b"]);
    expect(slugs("1. text", "   ```", "   # a", "# b", "```", "# c")).toEqual(["b"]);
    expect(slugs("- one", "  - two", "", "    # a", "", "# b")).toEqual(["b"]);
    expect(slugs("- # a", "> # b", "# c")).toEqual(["c"]);
    expect(slugs("-", "  # a", "# b")).toEqual(["b"]);
    expect(slugs("* * *", "# a", "- - -", "# b")).toEqual(["a", "b"]);
    expect(slugs("-      ```", "# a")).toEqual(["a"]);
  });
});

describe("the text of a section", () => {
  const plan = ["intro", "# A", "one", "## B", "two", "", "# C", "", "## D", "three", "# E", "  "].join("\n");

  it("goes on to the next heading that is as high, with those below it", () => {
    expect(textOf(plan, "a")).toBe("# A\none\n## B\ntwo");
    expect(textOf(plan, "b")).toBe("## B\ntwo");
    expect(textOf(plan, "c")).toBe("# C\n\n## D\nthree");
    expect(textOf(plan, "intro")).toBeUndefined();
  });

  it("is empty where nothing follows the heading, so that it fills no gate", () => {
    expect(textOf(plan, "e")).toBe("");
    expect(textOf("# A", "a")).toBe("");
  });

  it("does not depend on how lines end", () => {
    expect(textOf(plan.replaceAll("\n", "\r\n"), "a")).toBe("# A\none\n## B\ntwo");
  });
});

describe("sections in general", () => {
  const line = fc.oneof(
    fc.constantFrom(
      "# A",
      "## a",
      "### B",
      "```",
      "~~~",
      "- x",
      "  # y",
      "    # z",
      "",
      "text",
      "> # q",
      "1. ```",
    ),
    fc.string({ maxLength: 12 }).map((text) => text.replace(/[\r\n]/g, "")),
  );
  const document = fc.array(line, { maxLength: 40 });

  it("every slug names one section, and every section lies inside of the one around it", () => {
    fc.assert(
      fc.property(document, (lines) => {
        const sections = sectionsOf(lines.join("\n"));
        const named = sections.map(({ slug }) => slug).filter((slug) => slug !== "");
        expect(new Set(named).size).toBe(named.length);
        for (const [index, one] of sections.entries()) {
          expect(lines[one.line]?.trim()).toMatch(/^#{1,6}(\s|$)/);
          expect(one.end).toBeGreaterThan(one.line);
          expect(one.end).toBeLessThanOrEqual(lines.length);
          const next = sections.slice(index + 1).find(({ level }) => level <= one.level);
          expect(one.end).toBe(next?.line ?? lines.length);
        }
      }),
    );
  });

  it("what stands inside of a closed fence changes nothing about the others", () => {
    const headings = (lines: readonly string[]) =>
      sectionsOf(lines.join("\n")).map(({ slug, level }) => ({ slug, level }));
    const code = fc.array(
      line.filter((text) => !/^\s*(?:`{4,})\s*$/.test(text)),
      { maxLength: 10 },
    );
    const plain = fc.array(fc.constantFrom("# A", "## B", "text", ""), { maxLength: 10 });
    fc.assert(
      fc.property(plain, code, plain, (before, inside, after) => {
        const fenced = [...before, "````", ...inside, "````", ...after];
        expect(headings(fenced)).toEqual(headings([...before, ...after]));
      }),
    );
  });
});
