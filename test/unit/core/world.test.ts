import { describe, expect, it } from "vitest";
import { closeEmptied } from "../../../services/core/cascade.ts";
import { joinParent, leaveParent } from "../../../services/core/placement.ts";
import { NOBODY } from "../../../services/core/world.ts";
import { claimOf, item, worldOf } from "./world-of.ts";

const OPEN = { role: "queue", outcome: null } as const;

describe("what waiting claims are woken for", () => {
  const claimable = (world: ReturnType<typeof worldOf>): string[] =>
    world.becameClaimable().map((state) => state.id);

  it("is a container that lost its last open child and stays open: it is a leaf from now on", () => {
    const world = worldOf({ states: [item("p", { openChildren: 1 })] });
    leaveParent(world, "p", OPEN);
    expect(claimable(world)).toEqual(["p"]);
  });

  it("is not one that has children left, gains one, closes, or is held", () => {
    const one = { openChildren: 1 };
    const world = worldOf({
      states: [
        item("two", { openChildren: 2 }),
        item("more", one),
        item("closing", { ...one, doneChildren: 1 }),
        item("held", { ...one, claim: claimOf() }),
      ],
    });
    for (const id of ["two", "closing", "held"]) leaveParent(world, id, OPEN);
    joinParent(world, "more", OPEN);
    closeEmptied(world, "closing", NOBODY, null);
    expect(claimable(world)).toEqual([]);
  });
});
