/** What is wrong with a tree is found before anything of it is written. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { closingPath, findCycle, roundsOf } from "../../../../services/core/cycle.ts";
import {
  judgeTree,
  refsAbove,
  type TreeEdge,
  type TreeNode,
} from "../../../../services/core/trees/tree-shape.ts";

const LIMITS = { depthMax: 64, edgesMax: 500 };
const node = (ref: string, parentRef = "root"): TreeNode => ({ ref, parentRef });
const edge = (from: string, to: string, blocks = true): TreeEdge => ({ from, to, blocks });

describe("the shape of a tree", () => {
  it("says what is wrong and where, all at once", () => {
    const faults = judgeTree(
      [node("a"), node("a", "b"), node("root")],
      [edge("a", "z"), edge("a", "a")],
      LIMITS,
    );
    expect(faults.map(({ list, index, field }) => [list, index, field])).toEqual([
      ["children", 1, "ref"],
      ["children", 1, "parentRef"],
      ["children", 2, "ref"],
      ["deps", 0, null],
      ["deps", 1, null],
    ]);
  });

  it("a relation closes no cycle, an order does, through parents as well", () => {
    const nodes = [node("box"), node("in", "box"), node("b")];
    expect(judgeTree(nodes, [edge("in", "b"), edge("b", "in", false)], LIMITS)).toEqual([]);
    const [fault] = judgeTree(nodes, [edge("in", "b"), edge("b", "box")], LIMITS);
    expect(fault?.message).toContain("cycle");
    expect(judgeTree(nodes, [edge("box", "in")], LIMITS)).toHaveLength(1);
  });

  it("a thousand items one below the other are told to be too deep, not looked at for ever", () => {
    const chain = Array.from({ length: 1_000 }, (_, n) => node(`${n}`, n === 0 ? "root" : `${n - 1}`));
    expect(judgeTree(chain, [], LIMITS)).toHaveLength(1_000 - 64);
    expect(refsAbove(chain).get("3")).toEqual(["0", "1", "2"]);
  });

  // Two at least: with one there is no edge between two of them, and the generator would look for it for ever.
  const tree = fc.integer({ min: 2, max: 12 }).chain((size) =>
    fc.record({
      nodes: fc.tuple(
        ...Array.from({ length: size }, (_, n) =>
          fc
            .integer({ min: -1, max: n - 1 })
            .map((parent) => node(`${n}`, parent < 0 ? "root" : `${parent}`)),
        ),
      ),
      edges: fc.uniqueArray(
        fc
          .record({ from: fc.integer({ min: 0, max: size - 1 }), to: fc.integer({ min: 0, max: size - 1 }) })
          .filter(({ from, to }) => from !== to)
          .map(({ from, to }) => edge(`${from}`, `${to}`)),
        { maxLength: 20, selector: ({ from, to }) => `${from} ${to}` },
      ),
    }),
  );

  it("edges are refused exactly if drawing them one by one would be refused", () => {
    fc.assert(
      fc.property(tree, ({ nodes, edges }) => {
        const { children, parentOf } = containment(nodes);
        const blocks = new Map<string, string[]>();
        let closes = false;
        for (const { from, to } of edges) {
          closes ||= closingPath({ blocks, children, parentOf }, from, to) !== null;
          blocks.set(from, [...(blocks.get(from) ?? []), to]);
        }
        expect(judgeTree(nodes, edges, LIMITS).length > 0).toBe(closes);
        const path = findCycle({ blocks, children, parentOf });
        expect(path !== null).toBe(closes);
        expect(path?.at(0)).toBe(path?.at(-1));
      }),
    );
  });

  it("rounds put blockers before what they block, and children before their parents", () => {
    fc.assert(
      fc.property(tree, ({ nodes, edges }) => {
        fc.pre(judgeTree(nodes, edges, LIMITS).length === 0);
        const { children, parentOf } = containment(nodes);
        const blocks = new Map(
          [...Map.groupBy(edges, ({ from }) => from)].map(([from, to]) => [from, to.map((one) => one.to)]),
        );
        const rounds = roundsOf({ blocks, children, parentOf });
        const roundOf = new Map(rounds.flatMap((ids, round) => ids.map((id) => [id, round] as const)));
        expect(roundOf.size).toBe(nodes.length + 1);
        const above = refsAbove(nodes);
        const at = (ref: string): number => roundOf.get(ref) ?? -1;
        for (const { ref, parentRef } of nodes) expect(at(ref)).toBeLessThan(at(parentRef));
        for (const { from, to } of edges) {
          const held = nodes.filter(({ ref }) => ref === to || above.get(ref)?.includes(to) === true);
          for (const { ref } of held) expect(at(from)).toBeLessThan(at(ref));
        }
      }),
    );
  });
});

function containment(nodes: readonly TreeNode[]) {
  const children = new Map(
    [...Map.groupBy(nodes, ({ parentRef }) => parentRef)].map(([ref, below]) => [
      ref,
      below.map((one) => one.ref),
    ]),
  );
  const parentOf = new Map<string, string | null>([
    ["root", null],
    ...nodes.map((one) => [one.ref, one.parentRef] as const),
  ]);
  return { children, parentOf };
}
