import { describe, expect, it } from "vitest";
import { isSatisfied } from "../../../services/core/edges.ts";
import type { Outcome, Role } from "../../../services/core/roles.ts";

const THRESHOLDS = ["queue", "work", "review", "terminal"] as const;

/** Which thresholds a blocker in this state satisfies, without regard to cancellation. */
const DELIVERED: readonly { role: Role; outcome: Outcome | null; satisfies: readonly string[] }[] = [
  { role: "queue", outcome: null, satisfies: ["queue"] },
  { role: "work", outcome: null, satisfies: ["queue", "work"] },
  { role: "review", outcome: null, satisfies: ["queue", "work", "review"] },
  { role: "terminal", outcome: "done", satisfies: ["queue", "work", "review", "terminal"] },
  { role: "blocked", outcome: null, satisfies: [] },
];

describe("edges", () => {
  it.each(DELIVERED)(
    "a blocker in $role satisfies $satisfies, whatever its edge says of cancelling [B16, B17]",
    (blocker) => {
      for (const threshold of THRESHOLDS) {
        for (const onCancelled of ["hold", "release"] as const) {
          expect(isSatisfied({ threshold, onCancelled }, blocker)).toBe(
            blocker.satisfies.includes(threshold),
          );
        }
      }
    },
  );

  it("a cancelled blocker satisfies exactly the edges that release, at every threshold [B25]", () => {
    const cancelled = { role: "terminal", outcome: "cancelled" } as const;
    for (const threshold of THRESHOLDS) {
      expect(isSatisfied({ threshold, onCancelled: "hold" }, cancelled)).toBe(false);
      expect(isSatisfied({ threshold, onCancelled: "release" }, cancelled)).toBe(true);
    }
  });
});
