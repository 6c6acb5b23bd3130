import { describe, expect, it } from "vitest";
import { DEFAULT_POLICY } from "../../../services/core/state.ts";
import { NotLocked, World } from "../../../services/core/world.ts";
import { apply, NOW, worldOf } from "./advance-world.ts";

describe("a cascade that reaches rows that nobody locked", () => {
  it("asks for the whole chain at once, not for one level at a time", () => {
    const names = Array.from({ length: 20 }, (_, n) => `l${n}`);
    const full = worldOf(
      Object.fromEntries(names.map((name, n) => [name, n === 0 ? {} : { under: `l${n - 1}` }])),
    );
    const known = ["l19", "l18"].map((name) => full.get(name));
    const world = new World({
      now: NOW,
      states: known,
      edges: [],
      subtrees: [],
      policyOf: () => DEFAULT_POLICY,
    });
    const missing = catchNotLocked(() => apply(world, "l19", "complete"));
    expect(new Set(missing.items)).toEqual(new Set(names.slice(0, 19)));
  });

  it("asks for all dependents at once", () => {
    const names = Array.from({ length: 30 }, (_, n) => `d${n}`);
    const full = worldOf(
      { root: {}, ...Object.fromEntries(names.map((name) => [name, {}])) },
      names.map((to) => ({ from: "root", to })),
    );
    const world = new World({
      now: NOW,
      states: [full.get("root")],
      edges: full.edgesFrom("root"),
      subtrees: [],
      policyOf: () => DEFAULT_POLICY,
    });
    expect(catchNotLocked(() => apply(world, "root", "complete")).items).toEqual(names);
  });

  it("asks for the subtrees of all dependents that turn at once", () => {
    const full = worldOf({ root: {}, a: {}, b: {}, a1: { under: "a" }, b1: { under: "b" } }, [
      { from: "root", to: "a" },
      { from: "root", to: "b" },
    ]);
    const world = new World({
      now: NOW,
      states: ["root", "a", "b"].map((name) => full.get(name)),
      edges: full.edgesFrom("root"),
      subtrees: [],
      policyOf: () => DEFAULT_POLICY,
    });
    expect(catchNotLocked(() => apply(world, "root", "complete")).subtrees).toEqual(["a", "b"]);
  });
});

function catchNotLocked(work: () => unknown): NotLocked {
  try {
    work();
  } catch (error) {
    if (error instanceof NotLocked) return error;
    throw error;
  }
  throw new Error("everything was locked");
}
