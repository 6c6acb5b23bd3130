import { describe, expect, it } from "vitest";
import { mergePatch } from "../../../services/core/merge-patch.ts";

type Fields = Record<string, unknown>;

describe("mergePatch", () => {
  // The examples of RFC 7396, appendix A, whose target and patch are objects.
  it.each<[Fields, Fields, Fields]>([
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])("%j with %j is %j", (target, patch, merged) => {
    expect(mergePatch(target, patch)).toEqual(merged);
  });

  it("keeps a key that is called __proto__ a key", () => {
    const merged = mergePatch({}, JSON.parse('{"__proto__":{"x":1}}') as Fields);
    expect([Object.keys(merged), (merged as { x?: number }).x]).toEqual([["__proto__"], undefined]);
  });
});
