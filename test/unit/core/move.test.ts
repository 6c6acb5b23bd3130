import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TRIGGERS } from "../../../services/core/roles.ts";
import type { World } from "../../../services/core/world.ts";
import { apply, decide, unbalanced, worldOf } from "./advance-world.ts";

const POLICIES = {
  reviewed: { hasReviewPhase: true },
  fragile: { maxAttempts: 2 },
  stubborn: { maxAttempts: 2, hasReviewPhase: true },
} as const;

describe("what a move tells", () => {
  it("an item is unblocked when its last blocker goes, not before, and not when it is over [B26]", () => {
    const world = worldOf({ a: {}, b: {}, next: {}, over: { role: "terminal" } }, [
      { from: "a", to: "next" },
      { from: "b", to: "next" },
      { from: "a", to: "over" },
    ]);
    expect(apply(world, "a", "complete").unblocked).toEqual([]);
    expect(apply(world, "b", "complete").unblocked).toEqual(["next"]);
  });

  it("a cancel lists what it holds up, and releases what said so [B25]", () => {
    const world = worldOf({ a: {}, holds: {}, lets: {}, over: { role: "terminal" } }, [
      { from: "a", to: "holds" },
      { from: "a", to: "lets", onCancelled: "release" },
      { from: "a", to: "over" },
    ]);
    const applied = apply(world, "a", "cancel");
    expect(applied.heldUp).toEqual(["holds"]);
    expect(applied.unblocked).toEqual(["lets"]);
  });

  it("everything below a dependent learns that it is free or not", () => {
    const world = worldOf({ a: {}, next: {}, mid: { under: "next" }, low: { under: "mid" } }, [
      { from: "a", to: "next" },
    ]);
    expect(world.get("low").ancestorBlockers).toBe(1);
    apply(world, "a", "complete");
    expect(world.get("low").ancestorBlockers).toBe(0);
    apply(world, "a", "reopen");
    expect([world.get("mid"), world.get("low")].map((state) => state.ancestorBlockers)).toEqual([1, 1]);
  });
});

describe("the books", () => {
  const anyShape = fc.record({
    parents: fc.array(fc.option(fc.nat({ max: 5 }), { nil: null }), { minLength: 6, maxLength: 6 }),
    edges: fc.array(
      fc.record({
        from: fc.nat({ max: 5 }),
        to: fc.nat({ max: 5 }),
        threshold: fc.constantFrom("queue", "work", "review", "terminal"),
        onCancelled: fc.constantFrom("hold", "release"),
      }),
      { maxLength: 6 },
    ),
    types: fc.array(fc.constantFrom(null, "reviewed", "fragile", "stubborn"), { minLength: 6, maxLength: 6 }),
  });
  const anyMove = fc.record({
    item: fc.nat({ max: 5 }),
    trigger: fc.constantFrom(...TRIGGERS),
    operator: fc.boolean(),
  });

  it("balance after every move, the fence never falls, and nobody is left open under a closed parent", () => {
    fc.assert(
      fc.property(anyShape, fc.array(anyMove, { maxLength: 30 }), (shape, moves) => {
        const names = shape.types.map((_, n) => `n${n}`);
        const world = worldOf(
          Object.fromEntries(
            names.map((name, n) => {
              const above = shape.parents[n] ?? null;
              const type = shape.types[n] ?? null;
              return [name, above !== null && above < n ? { under: `n${above}`, type } : { type }];
            }),
          ),
          // Downhill only, so that no cycle and no edge into one's own ancestor is drawn.
          shape.edges
            .filter((edge) => edge.from < edge.to)
            .map((edge) => ({ ...edge, from: `n${edge.from}`, to: `n${edge.to}` })),
          POLICIES,
        );
        for (const { item, trigger, operator } of moves) {
          const before = names.map((name) => world.get(name).fence);
          const verdict = decide(world, `n${item}`, trigger, { operator, agent: "ann" });
          if (verdict.kind === "refused") continue;
          expect(unbalanced(world, names), `${trigger} n${item}`).toEqual([]);
          names.forEach((name, n) => expect(world.get(name).fence).toBeGreaterThanOrEqual(before[n] ?? 0));
          expect(openUnderClosed(world, names)).toEqual([]);
        }
      }),
      { numRuns: 500 },
    );
  });
});

function openUnderClosed(world: World, names: readonly string[]): string[] {
  return names.filter((name) => {
    const { role, parentId } = world.get(name);
    return role !== "terminal" && parentId !== null && world.get(parentId).role === "terminal";
  });
}
