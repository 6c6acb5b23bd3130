import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { closingPath, containingPath, type OrderGraph } from "../../../services/core/cycle.ts";

/** `a>b` is an edge from blocker a to b; `b<a` puts b under a. */
function graphOf(...facts: readonly string[]): OrderGraph {
  const blocks = new Map<string, string[]>();
  const children = new Map<string, string[]>();
  const parentOf = new Map<string, string | null>();
  for (const fact of facts) {
    const [left = "", right = ""] = fact.split(/[<>]/);
    if (fact.includes(">")) blocks.set(left, [...(blocks.get(left) ?? []), right]);
    else {
      parentOf.set(left, right);
      children.set(right, [...(children.get(right) ?? []), left]);
    }
  }
  return { blocks, children, parentOf };
}

describe("edges that would close a cycle", () => {
  it("two items cannot block each other, and the path names both [B21]", () => {
    expect(closingPath(graphOf("a>b"), "b", "a")).toEqual(["b", "a", "b"]);
  });

  it("an item cannot block itself", () => {
    expect(closingPath(graphOf(), "a", "a")).not.toBeNull();
  });

  it("a long chain is followed to its end", () => {
    const names = Array.from({ length: 500 }, (_, n) => `i${n}`);
    const chain = names.slice(1).map((name, n) => `i${n}>${name}`);
    expect(closingPath(graphOf(...chain), "i499", "i0")).toEqual(["i499", ...names]);
    expect(closingPath(graphOf(...chain), "i0", "i499")).toBeNull();
  });

  it("a child cannot block the start of its ancestor, however far above", () => {
    const tree = graphOf("child<parent", "parent<root");
    expect(closingPath(tree, "child", "parent")).toEqual(["child", "parent", "child"]);
    expect(closingPath(tree, "child", "root")).not.toBeNull();
  });

  it("an ancestor's end cannot block its child", () => {
    const tree = graphOf("child<parent", "parent<root");
    expect(closingPath(tree, "parent", "child")).not.toBeNull();
    expect(closingPath(tree, "root", "child")).not.toBeNull();
  });

  it("siblings may block each other one way", () => {
    const tree = graphOf("a<parent", "b<parent");
    expect(closingPath(tree, "a", "b")).toBeNull();
    expect(closingPath(graphOf("a<parent", "b<parent", "a>b"), "b", "a")).not.toBeNull();
  });

  it("edges and containment close a cycle together", () => {
    // p ends before q starts; a child of q cannot end before p's child starts, since q's start comes first.
    const tree = graphOf("x<p", "y<q", "p>q");
    expect(closingPath(tree, "y", "x")).toEqual(["y", "x", "p", "q", "y"]);
    expect(closingPath(tree, "x", "y")).toBeNull();
    expect(closingPath(tree, "y", "p")).not.toBeNull();
  });

  it("one phase may follow another, and their items one another", () => {
    const tree = graphOf("x<p", "y<q");
    expect(closingPath(tree, "p", "q")).toBeNull();
    expect(closingPath(tree, "x", "q")).toBeNull();
    expect(closingPath(tree, "p", "y")).toBeNull();
  });
});

describe("moves that would close a cycle", () => {
  it("an item cannot go under what it blocks, nor under what blocks it", () => {
    expect(containingPath(graphOf("a>b"), "a", "b")).not.toBeNull();
    expect(containingPath(graphOf("a>b"), "b", "a")).not.toBeNull();
    expect(containingPath(graphOf("a>b"), "a", "c")).toBeNull();
  });

  it("an item cannot go under an item that something below it waits for", () => {
    expect(containingPath(graphOf("c<a", "b>c"), "a", "b")).not.toBeNull();
  });
});

const NODES = 7;
const anyNode = fc.nat({ max: NODES - 1 });
const anyStep = fc.record({
  kind: fc.constantFrom("edge" as const, "move" as const),
  a: anyNode,
  b: anyNode,
});

/** Every start and end in an order that respects all constraints, or null if there is none. */
function topologicalOrder(graph: OrderGraph, ids: readonly string[]): string[] | null {
  const after = new Map<string, string[]>(
    ids.flatMap((id) => [
      [`start ${id}`, [`end ${id}`]],
      [`end ${id}`, []],
    ]),
  );
  const say = (before: string, then: string) => after.get(before)?.push(then);
  const below = (id: string): string[] =>
    (graph.children.get(id) ?? []).flatMap((child) => [child, ...below(child)]);
  for (const [from, list] of graph.blocks) {
    for (const to of list) for (const one of [to, ...below(to)]) say(`end ${from}`, `start ${one}`);
  }
  for (const [child, parent] of graph.parentOf) {
    if (parent !== null) say(`end ${child}`, `end ${parent}`);
    if (parent !== null) say(`start ${parent}`, `start ${child}`);
  }
  const waiting = new Map([...after.keys()].map((key) => [key, 0]));
  for (const list of after.values()) for (const key of list) waiting.set(key, (waiting.get(key) ?? 0) + 1);
  const free = [...waiting].filter(([, count]) => count === 0).map(([key]) => key);
  const order: string[] = [];
  for (let key = free.pop(); key !== undefined; key = free.pop()) {
    order.push(key);
    for (const next of after.get(key) ?? []) {
      const left = (waiting.get(next) ?? 0) - 1;
      waiting.set(next, left);
      if (left === 0) free.push(next);
    }
  }
  return order.length === after.size ? order : null;
}

describe("orders in general", () => {
  it("whatever was accepted can be worked off in some order, and whatever was refused could not", () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 25 }), (steps) => {
        const ids = Array.from({ length: NODES }, (_, n) => `n${n}`);
        let facts: string[] = [];
        for (const { kind, a, b } of steps) {
          const graph = graphOf(...facts);
          const [from, to] = [`n${a}`, `n${b}`];
          const next = kind === "edge" ? [...facts, `${from}>${to}`] : [...facts, `${from}<${to}`];
          if (kind === "move" && (from === to || facts.some((fact) => fact.startsWith(`${from}<`)))) continue;
          // A tree stays a tree: that rule is not this one's.
          if (kind === "move" && isBelow(graph, to, from)) continue;
          const path = kind === "edge" ? closingPath(graph, from, to) : containingPath(graph, from, to);
          expect(topologicalOrder(graphOf(...next), ids) === null, `${next.join(" ")}: ${path?.join()}`).toBe(
            path !== null,
          );
          if (path === null) facts = next;
        }
      }),
      { numRuns: 300 },
    );
  });
});

function isBelow(graph: OrderGraph, id: string, above: string): boolean {
  for (let at = graph.parentOf.get(id); at !== undefined && at !== null; at = graph.parentOf.get(at)) {
    if (at === above) return true;
  }
  return false;
}
