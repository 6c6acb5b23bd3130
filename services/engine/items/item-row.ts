/** A new item as it is stored, whichever door it comes through. */
import type { NewItemRow } from "../../../db/stores/item-write-store.ts";
import type { NewItem } from "../../contract/operations/manage-items.ts";
import type { ItemSchema } from "../../core/schemas/item-schema.ts";
import { startCopies } from "../../core/schemas/start-copies.ts";

export interface ItemPlace {
  readonly id: string;
  /** Root first, parent last. */
  readonly ancestors: readonly string[];
  /** Those of them that an unsatisfied edge leads to. */
  readonly ancestorBlockers: number;
}

/** @param filled keys of the notes that are written with it and say something */
export function toItemRow(
  item: NewItem,
  { id, ancestors, ancestorBlockers }: ItemPlace,
  schema: ItemSchema,
  filled: ReadonlySet<string> = new Set(),
): NewItemRow {
  const { startGateOpen, resources } = startCopies(
    schema,
    // Whoever wrote them comes with the notes, which are written after their item.
    new Map([...filled].map((key) => [key, null])),
  );
  return {
    id,
    root_id: ancestors[0] ?? id,
    parent_id: ancestors.at(-1) ?? null,
    ancestors,
    title: item.title,
    summary: item.summary,
    description: item.description?.trim() ? item.description : null,
    type: item.type ?? null,
    tags: item.tags ?? [],
    traits: item.traits ?? [],
    needs: item.needs ?? [],
    assignee: item.assignee ?? null,
    properties: item.properties ?? null,
    metadata: item.metadata ?? null,
    priority: item.priority,
    complexity: item.complexity ?? null,
    requires_verification: item.requiresVerification,
    due_at: item.dueAt ?? null,
    status_label: item.statusLabel ?? null,
    ancestor_blockers: ancestorBlockers,
    start_gate_open: startGateOpen,
    resources,
  };
}
