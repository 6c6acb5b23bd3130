/**
 * Loads the working set of a decision under its locks.
 *
 * Order inside a transaction: the rows are locked in id order (two transactions that need
 * the same rows queue up instead of deadlocking), and the edges are read after the locks (a
 * read before would see the world as it was before the wait).
 */
import type { Edge } from "../../services/core/edges.ts";
import type { Role } from "../../services/core/roles.ts";
import type { ItemPolicy, ItemState } from "../../services/core/state.ts";
import { NotLocked, World } from "../../services/core/world.ts";
import { type Handle, statement } from "../statement.ts";
import { STATE_COLUMNS, type StateRow, toItemState } from "./state-row.ts";

/** Locks and reads; see migration 0002. */
const lock = statement<StateRow & { now: Date }>(
  "world_lock",
  `select ${STATE_COLUMNS}, muster_now() as now from muster_lock($1::uuid[], $2::uuid[], $3::uuid[], $4) s`,
);

interface Surroundings {
  readonly edges: readonly EdgeRow[] | null;
  /** Roles of parents that were read without a lock. */
  readonly roles: Readonly<Record<string, Role>> | null;
  /** Everything below the wanted subtrees. */
  readonly below: readonly string[] | null;
}

const surroundings = statement<{ found: Surroundings }>(
  "world_surroundings",
  `select muster_surroundings($1::uuid[], $2::uuid[], $3::uuid[], $4) as found`,
);

export interface EdgeRow {
  readonly id: string;
  readonly from_item: string;
  readonly to_item: string;
  readonly unblock_at: Edge["threshold"] | null;
  readonly on_cancelled: Edge["onCancelled"] | null;
  readonly to_has_children: boolean;
}

/**
 * What else than the items' own rows can change. `all`: they may close or reopen. `start`:
 * they only start, which moves queued parents and counts nothing in others, so starts
 * below one parent do not queue up for its row. `none`: nothing.
 */
export type Neighbours = "all" | "start" | "none";

const PARENTS = { all: "all", start: "queued", none: "none" } as const;

export interface LoadWorld {
  readonly items: readonly string[];
  /** What an earlier try was missing. */
  readonly extra: { readonly items: readonly string[]; readonly subtrees: readonly string[] };
  readonly neighbours: Neighbours;
  readonly policyOf: (state: ItemState) => ItemPolicy;
  /** What an edge that says nothing means when its blocker is cancelled. */
  readonly onCancelled: Edge["onCancelled"];
}

/** Locks and loads. Items that do not exist are simply not in the world. */
export async function loadWorld(handle: Handle, input: LoadWorld): Promise<World> {
  const { items, extra, neighbours } = input;
  const asked = [items, extra.items, extra.subtrees, PARENTS[neighbours]];
  // Sent together; the second runs after the first has its locks, and sees what was committed meanwhile.
  const [rows, [around]] = await Promise.all([
    lock(handle, asked),
    neighbours === "none" && extra.subtrees.length === 0 ? [] : surroundings(handle, asked),
  ]);
  refuseGrown(rows, around?.found.below ?? []);
  const states = rows.map(toItemState);
  return new World({
    now: rows[0]?.now.getTime() ?? 0,
    states,
    edges: (around?.found.edges ?? []).map((row) => toEdge(row, input.onCancelled)),
    edgesOf: neighbours === "none" ? [] : withParents(states, new Set([...items, ...extra.items])),
    subtrees: extra.subtrees,
    glimpsedRoles: new Map(Object.entries(around?.found.roles ?? {})),
    policyOf: input.policyOf,
  });
}

/**
 * The locking statement sees the world as it was before it waited: a child that was hung into a
 * subtree meanwhile is in none of its rows, and would be left out of its ancestors' changes for good.
 */
function refuseGrown(rows: readonly StateRow[], below: readonly string[]): void {
  const locked = new Set(rows.map((row) => row.item_id));
  const grown = below.filter((id) => !locked.has(id));
  if (grown.length > 0) throw new NotLocked(grown);
}

/** The rows whose edges were read. */
function withParents(states: readonly ItemState[], ids: ReadonlySet<string>): string[] {
  return states.flatMap(({ id, parentId }) => {
    if (!ids.has(id)) return [];
    return parentId === null ? [id] : [id, parentId];
  });
}

export function toEdge(row: EdgeRow, onCancelled: Edge["onCancelled"]): Edge {
  return {
    id: row.id,
    from: row.from_item,
    to: row.to_item,
    threshold: row.unblock_at ?? "terminal",
    onCancelled: row.on_cancelled ?? onCancelled,
    toHasChildren: row.to_has_children,
  };
}
