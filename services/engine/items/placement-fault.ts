/** Why a subtree cannot hang where it was put, as callers read it. */
import { fault, type MusterError } from "../../contract/errors.ts";
import { TREE_DEPTH_MAX } from "../../contract/limits.ts";
import type { PlacementRefusal } from "../../core/placement.ts";

export function placementFault(refusal: PlacementRefusal, parentId: string): MusterError {
  switch (refusal.code) {
    case "parent_closed":
      return fault(
        "parent_closed",
        `the parent ${parentId} is terminal, and an open item below it would never be offered`,
        {
          hint: `Reopen the parent first (advance_item, trigger "reopen"), or choose another parent.`,
        },
      );
    case "own_descendant":
      return fault(
        "cycle_detected",
        `${parentId} is the item itself or below it, so it cannot be its parent`,
        {
          hint: "Choose a parent outside of the item's own subtree.",
        },
      );
    case "too_deep":
      return fault(
        "limit_exceeded",
        `the tree would be ${refusal.depth} levels deep; at most ${TREE_DEPTH_MAX} are allowed`,
      );
  }
}
