import { describe, expect, it } from "vitest";
import * as fc from "fast-check";
import { readYaml, UnreadableYaml } from "../../../../services/engine/config/read-yaml.ts";

describe("reading YAML from people we do not know", () => {
  it("reads plain values, merged maps and aliases", () => {
    const text = "base: &b {x: 1}\nmore:\n  <<: *b\n  y: [off, null, 2]\nagain: *b\n";
    expect(readYaml(text)).toEqual({
      base: { x: 1 },
      more: { x: 1, y: ["off", null, 2] },
      again: { x: 1 },
    });
  });

  it("an empty text and one of comments only say nothing", () => {
    expect([readYaml(""), readYaml("# later\n"), readYaml("\uFEFF")]).toEqual([null, null, null]);
  });

  const REFUSED: readonly [what: string, text: string, cause: RegExp][] = [
    ["a tag of somebody's own", "a: !foo bar", /line 1, column 4: Unresolved tag/],
    ["a tag that makes objects", "a: !!js/function 'x'", /tag/],
    ["bytes", "a: !!binary aGk=", /tag/],
    ["a key that is there twice", "a: 1\nb: 2\na: 3", /line 3, column 1: Map keys must be unique/],
    ["two documents", "a: 1\n---\nb: 2\n", /several documents/],
    ["what is not YAML", "a: [1,", /line 1/],
    ["a tab as indentation", "a:\n\tb: 1", /line 2/],
    ["an alias inside of what it stands for", "a: &x {b: *x}", /inside of what it stands for/],
    ["an alias of nothing", "a: *nobody", /line 1, column 4: nothing is called &nobody/],
    ["a list as a key", "? [a]\n: b", /key/],
    ["what cannot be stored", "a: x\0y", /cannot be stored/],
    ["half a character", `a: ${"😀".slice(0, 1)}`, /cannot be stored/],
    ["too many bytes", `a: ${"ä".repeat(65_536)}`, /131075 bytes/],
    [
      "a map with too many keys",
      Array.from({ length: 1_001 }, (_, n) => `k${n}: 1`).join("\n"),
      /1000 entries/,
    ],
    ["a list that is too long", `[${"x,".repeat(1_001)}]`, /1000 entries/],
    ["too many aliases", `a: &a x\nb: [${"*a,".repeat(101)}]`, /100 aliases/],
    ["lists nested too deep", "[".repeat(60_000), /levels deep/],
    ["maps nested too deep", "{a: ".repeat(30_000), /levels deep/],
    ["sequences nested too deep", "- ".repeat(60_000), /levels deep/],
    ["keys nested too deep", "? ".repeat(60_000), /levels deep/],
  ];

  it.each(REFUSED)("refuses %s", (_, text, cause) => {
    expect(() => readYaml(text)).toThrow(UnreadableYaml);
    expect(() => readYaml(text)).toThrow(cause);
  });

  it("refuses aliases that blow up what they stand for", () => {
    const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
    for (let level = 1; level < 9; level += 1)
      lines.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(", ")}]`);
    expect(() => readYaml(lines.join("\n"))).toThrow(UnreadableYaml);
  });

  it("whatever the text, it answers a value or says why not", () => {
    const piece = fc.constantFrom(
      ...Array.from("[]{}:,-?&*!|>#'\"%@ \n\ta1"),
      "<<: ",
      "&a ",
      "*a",
      "!!str ",
      "---\n",
      "- ",
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(piece, { maxLength: 200 }).map((pieces) => pieces.join("")),
    );
    fc.assert(
      fc.property(text, (one) => {
        try {
          JSON.stringify(readYaml(one));
        } catch (error) {
          expect(error).toBeInstanceOf(UnreadableYaml);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
