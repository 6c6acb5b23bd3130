/** What every list shows of an item: what is unset is left out; that it is claimed is said, never by whom. */
import type { Priority, Role } from "../../core/roles.ts";

export interface FactsRow {
  readonly parent_id: string | null;
  readonly title: string;
  readonly role: Role;
  readonly status_label: string | null;
  readonly priority: Priority;
  readonly depth: number;
  readonly complexity: number | null;
  readonly type: string | null;
  readonly tags: readonly string[];
  readonly held: boolean;
  readonly lapsed: boolean;
  readonly dead: boolean;
  readonly due_at?: Date | null;
}

export interface ItemFacts {
  readonly parentId: string | null;
  readonly title: string;
  readonly role: Role;
  readonly statusLabel?: string;
  readonly priority: Priority;
  readonly depth: number;
  readonly complexity?: number;
  readonly type?: string;
  readonly tags?: string;
  readonly isClaimed?: boolean;
  readonly claimLapsed?: true;
  readonly dead?: true;
  readonly dueAt?: string;
}

export function itemFacts(row: FactsRow): ItemFacts {
  return {
    parentId: row.parent_id,
    title: row.title,
    role: row.role,
    ...(row.status_label === null ? {} : { statusLabel: row.status_label }),
    priority: row.priority,
    depth: row.depth,
    ...(row.complexity === null ? {} : { complexity: row.complexity }),
    ...(row.type === null ? {} : { type: row.type }),
    ...(row.tags.length === 0 ? {} : { tags: row.tags.join(",") }),
    ...(row.held ? { isClaimed: !row.lapsed } : {}),
    ...(row.lapsed ? { claimLapsed: true } : {}),
    ...(row.dead ? { dead: true } : {}),
    ...(row.due_at ? { dueAt: row.due_at.toISOString() } : {}),
  };
}
