/** Blocking edges, always seen from the blocker: `from` holds up `to`. */
import { type Outcome, reaches, type Role } from "./roles.ts";

export interface Edge {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** The role that `from` must reach. */
  readonly threshold: Role;
  /** What a cancelled blocker means: it goes on holding, or it lets go. */
  readonly onCancelled: "hold" | "release";
  /** True if `to` has children, whose own readiness hangs on it. */
  readonly toHasChildren: boolean;
}

export interface BlockerState {
  readonly role: Role;
  readonly outcome: Outcome | null;
}

/** A cancelled blocker did not deliver what the edge waits for, so it satisfies only an edge that says so. */
export function isSatisfied(edge: Pick<Edge, "threshold" | "onCancelled">, blocker: BlockerState): boolean {
  if (blocker.role === "terminal" && blocker.outcome === "cancelled") return edge.onCancelled === "release";
  return reaches(blocker.role, edge.threshold);
}
