/** Why an edge cannot be drawn, as callers read it. */
import type { DependencyRow } from "../../../db/stores/dependency-store.ts";
import { fault, type MusterError } from "../../contract/errors.ts";
import { DEPENDENCIES_PER_ITEM_MAX } from "../../contract/limits.ts";
import type { EdgeRefusal } from "../../core/new-edges.ts";

/** Items whose titles the faults show. */
export function edgeTitles(
  refused: readonly { readonly row: DependencyRow; readonly refusal: EdgeRefusal }[],
): string[] {
  return refused.flatMap(({ row, refusal }) =>
    refusal.code === "cycle" ? refusal.path : [row.from_item, row.to_item],
  );
}

export function edgeFault(
  row: DependencyRow,
  refusal: EdgeRefusal,
  titles: ReadonlyMap<string, string>,
): MusterError {
  const named = (id: string): string => `"${titles.get(id) ?? ""}" (${id})`;
  switch (refusal.code) {
    case "missing":
      return fault("RESOURCE_NOT_FOUND", `there is no item ${refusal.id}`);
    case "self":
      return fault("validation_failed", `${named(row.from_item)} cannot depend on itself`);
    case "duplicate":
      return fault(
        "CONFLICT_ERROR",
        `${named(row.from_item)} ${row.type} ${named(row.to_item)} is there already`,
        {
          hint: "Leave this edge out; to change its threshold, delete it first.",
        },
      );
    case "too_many":
      return fault(
        "limit_exceeded",
        `${named(refusal.id)} already has ${DEPENDENCIES_PER_ITEM_MAX} dependencies`,
      );
    case "cycle":
      return fault("cycle_detected", `this closes a cycle: ${refusal.path.map(named).join(" before ")}`, {
        details: { path: refusal.path.map((id) => ({ id, title: titles.get(id) ?? "" })) },
      });
  }
}
