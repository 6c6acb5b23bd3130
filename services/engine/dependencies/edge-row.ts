/** A new edge as it is stored. */
import { randomUUID } from "node:crypto";
import type { DependencyRow } from "../../../db/stores/dependency-store.ts";
import type { NewDependency } from "../../contract/operations/manage-dependencies.ts";

/** What an edge says besides its ends. */
export interface EdgeRule {
  readonly type?: NewDependency["type"] | undefined;
  readonly unblockAt?: NewDependency["unblockAt"] | undefined;
  readonly onCancelled?: NewDependency["onCancelled"] | undefined;
}

/** One spelling: "is blocked by" is the same edge with its ends swapped. */
export function toEdgeRow(edge: EdgeRule, from: string, to: string): DependencyRow {
  const swapped = edge.type === "IS_BLOCKED_BY";
  return {
    id: randomUUID(),
    from_item: swapped ? to : from,
    to_item: swapped ? from : to,
    type: edge.type === "RELATES_TO" ? "RELATES_TO" : "BLOCKS",
    unblock_at: edge.unblockAt ?? null,
    on_cancelled: edge.onCancelled ?? null,
  };
}
