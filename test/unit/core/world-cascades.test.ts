/**
 * Siblings finish in any order: what becomes of the containers above them, and of
 * everything that waits for them, is the same, and every counter is what a count of the
 * rows would give.
 */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideAdvance } from "../../../services/core/advance.ts";
import { type Edge, isSatisfied } from "../../../services/core/edges.ts";
import type { Lifecycle } from "../../../services/core/roles.ts";
import { DEFAULT_POLICY, type ItemState } from "../../../services/core/state.ts";
import { NOBODY, World } from "../../../services/core/world.ts";
import { item, NOW } from "./world-of.ts";

interface Plan {
  /** Of each item but the first: where it hangs, as a fraction of the items before it. */
  readonly parents: readonly number[];
  readonly cancels: readonly boolean[];
  readonly lifecycles: readonly Lifecycle[];
  readonly edges: readonly { readonly from: number; readonly to: number; readonly release: boolean }[];
  readonly orders: readonly [readonly number[], readonly number[]];
}

const SIZE_MAX = 14;
const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const plan: fc.Arbitrary<Plan> = fc.record({
  parents: fc.array(fraction, { minLength: 1, maxLength: SIZE_MAX - 1 }),
  cancels: fc.array(fc.boolean(), { minLength: SIZE_MAX, maxLength: SIZE_MAX }),
  lifecycles: fc.array(
    fc.oneof(
      { weight: 5, arbitrary: fc.constant("auto" as const) },
      fc.constantFrom("manual" as const, "permanent" as const),
    ),
    { minLength: SIZE_MAX, maxLength: SIZE_MAX },
  ),
  edges: fc
    .array(fc.record({ from: fraction, to: fraction, release: fc.boolean() }), { maxLength: 6 })
    .map((all) => all.map(({ from, to, release }) => ({ from, to, release }))),
  orders: fc.tuple(
    fc.array(fraction, { minLength: SIZE_MAX, maxLength: SIZE_MAX }),
    fc.array(fraction, { minLength: SIZE_MAX, maxLength: SIZE_MAX }),
  ),
});

interface Forest {
  readonly states: ItemState[];
  readonly edges: Edge[];
  readonly leaves: string[];
}

function grow({ parents, edges }: Plan): Forest {
  const states: ItemState[] = [item("i0")];
  for (const [index, at] of parents.entries()) {
    const parent = states[Math.floor(at * states.length)] as ItemState;
    states.push(item(`i${index + 1}`, { ancestors: [...parent.ancestors, parent.id] }));
  }
  const inner = new Set(states.map((state) => state.parentId));
  const leaves = states.map((state) => state.id).filter((id) => !inner.has(id));
  const blocking = edges.flatMap(({ from, to, release }, index): Edge[] => {
    // From an earlier leaf to a later one: no cycles. Containers that wait close by hand, which is another test.
    const [first, second] = [from, to]
      .map((at) => Math.floor(at * leaves.length))
      .toSorted((a, b) => a - b) as [number, number];
    if (first === second) return [];
    return [
      {
        id: `e${index}`,
        from: leaves[first] as string,
        to: leaves[second] as string,
        threshold: "terminal",
        onCancelled: release ? "release" : "hold",
        toHasChildren: false,
      },
    ];
  });
  return { states: counted(states, blocking), edges: blocking, leaves };
}

/** Every counter, counted from the rows. */
function counted(states: readonly ItemState[], edges: readonly Edge[]): ItemState[] {
  const byId = new Map(states.map((state) => [state.id, state]));
  const blockersOf = (id: string): number =>
    edges.filter((edge) => edge.to === id && !isSatisfied(edge, byId.get(edge.from) as ItemState)).length;
  return states.map((state) => {
    const children = states.filter((other) => other.parentId === state.id);
    return {
      ...state,
      blockers: blockersOf(state.id),
      ancestorBlockers: state.ancestors.filter((id) => blockersOf(id) > 0).length,
      openChildren: children.filter((child) => child.role !== "terminal").length,
      doneChildren: children.filter((child) => child.outcome === "done").length,
    };
  });
}

/** Finishes every leaf that lets itself be finished, in the given order, until none does any more. */
function finishAll(plan: Plan, forest: Forest, order: readonly number[]): ItemState[] {
  const lifecycleOf = (id: string): Lifecycle => plan.lifecycles[Number(id.slice(1))] ?? "auto";
  let states = forest.states;
  let waiting = forest.leaves
    .map((id, index) => ({ id, turn: order[index] ?? 0 }))
    .toSorted((a, b) => a.turn - b.turn);
  for (let before = -1; before !== waiting.length;) {
    before = waiting.length;
    waiting = waiting.filter(({ id }) => {
      const world = new World({
        now: NOW,
        states,
        edges: forest.edges,
        subtrees: states.map((state) => state.id),
        policyOf: (state) => ({ ...DEFAULT_POLICY, lifecycle: lifecycleOf(state.id) }),
      });
      const trigger = plan.cancels[Number(id.slice(1))] ? "cancel" : "complete";
      const verdict = decideAdvance(
        world,
        {
          itemId: id,
          trigger,
          summary: null,
          label: null,
          writer: { agent: null, session: null, fence: null },
          by: NOBODY,
          failure: { class: "item", reason: null },
          operator: false,
          random: 0,
        },
        { now: NOW, seenDead: false, latestEnd: null, identity: "session" },
      );
      states = states.map((state) => world.get(state.id));
      expect(states).toEqual(counted(states, forest.edges));
      return verdict.kind === "refused";
    });
  }
  return states;
}

describe("cascades", () => {
  it("end the same whatever order siblings finish in, with every counter right after every step [B31]", () => {
    fc.assert(
      fc.property(plan, (one) => {
        const forest = grow(one);
        const [first, second] = one.orders.map((order) => finishAll(one, forest, order));
        expect(second).toEqual(first);
      }),
      { numRuns: 300 },
    );
  });
});
