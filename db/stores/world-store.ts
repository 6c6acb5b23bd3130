/**
 * Loads the working set of a decision under its locks.
 *
 * Order inside a transaction: the rows are locked in id order (two transactions that need
 * the same rows queue up instead of deadlocking), and the edges are read after the locks (a
 * read before would see the world as it was before the wait).
 */
import type { Edge } from "../../services/core/edges.ts";
import type { LeaseBook } from "../../services/core/leases/lease-book.ts";
import type { Role } from "../../services/core/roles.ts";
import type { ItemSchema } from "../../services/core/schemas/item-schema.ts";
import type { ItemPolicy, ItemState } from "../../services/core/state.ts";
import { type Configurable, type LoadedNotes, NotLocked, World } from "../../services/core/world.ts";
import { type Handle, statement } from "../statement.ts";
import { STATE_COLUMNS, type StateRow, toItemState } from "./state-row.ts";

/** What else than the rows that are asked for by name: see migration 0002. */
const LOCK = `select ${STATE_COLUMNS}, muster_now() as now`;

const lock = statement<StateRow & { now: Date }>(
  "world_lock",
  `${LOCK} from muster_lock($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5) s`,
);

const surroundings = statement<SurroundingsRow>(
  "world_surroundings",
  `select muster_surroundings($1::uuid[], $2::uuid[], $3::uuid[]) as found,
     muster_configs($1::uuid[] || $2::uuid[]) as configs`,
);

/** The same with what earlier statements of the transaction have picked and found to be held, started or not. */
const AHEAD = {
  start: {
    lock: statement<StateRow & { now: Date }>(
      "world_lock_ahead",
      `${LOCK} from muster_lock($1::uuid[] || muster_held(), $2::uuid[] || muster_picked(), $3::uuid[], $4::uuid[], $5) s`,
    ),
    surroundings: statement<SurroundingsRow>(
      "world_surroundings_ahead",
      `select muster_surroundings($1::uuid[] || muster_held(), $2::uuid[] || muster_picked(), $3::uuid[]) as found,
         muster_configs($1::uuid[] || muster_held() || $2::uuid[] || muster_picked()) as configs`,
    ),
  },
  hold: {
    lock: statement<StateRow & { now: Date }>(
      "world_lock_ahead_held",
      `${LOCK} from muster_lock($1::uuid[] || muster_held(), $2::uuid[], $3::uuid[] || muster_picked(), $4::uuid[], $5) s`,
    ),
    surroundings: statement<SurroundingsRow>(
      "world_surroundings_ahead_held",
      `select muster_surroundings($1::uuid[] || muster_held(), $2::uuid[], $3::uuid[]) as found,
         muster_configs($1::uuid[] || muster_held() || $2::uuid[]) as configs`,
    ),
  },
} as const;

interface Surroundings {
  readonly judged: readonly string[];
  readonly edges: readonly EdgeRow[] | null;
  /** Role and open children of parents, read without a lock. */
  readonly parents: Readonly<Record<string, readonly [Role, number]>> | null;
  /** Everything below the wanted subtrees. */
  readonly below: readonly string[] | null;
}

interface SurroundingsRow {
  readonly found: Surroundings;
  readonly configs: Readonly<Record<string, string>> | null;
}

export interface EdgeRow {
  readonly id: string;
  readonly from_item: string;
  readonly to_item: string;
  readonly unblock_at: Edge["threshold"] | null;
  readonly on_cancelled: Edge["onCancelled"] | null;
  readonly to_has_children: boolean;
}

/** Parents with at most this many open children are locked with a child that may close. */
const NEAR_CLOSING = 16;
const ALL_PARENTS = 2_147_483_647;

export interface FoundRows {
  readonly states: readonly ItemState[];
  /** Those that are judged, and their parents. */
  readonly judged: readonly string[];
  /** By root: the text that configures it. Roots without one are missing. */
  readonly configs: ReadonlyMap<string, string>;
}

export interface Configured {
  readonly policyOf: (state: ItemState) => ItemPolicy;
  readonly schemaOf: (item: Configurable) => ItemSchema;
  readonly notes: LoadedNotes;
}

export interface LoadWorld {
  /** Items that may close or open again; with their parents and what waits for them. */
  readonly closing?: readonly string[];
  /** Items that at most start: they count nothing in others, so starts below one parent do not queue up for its row. */
  readonly starting?: readonly string[];
  /** Items whose neighbours do not matter. */
  readonly alone?: readonly string[];
  /** Together with what the transaction's earlier statements picked, to be started or only held, and found held. */
  readonly ahead?: "start" | "hold" | undefined;
  /** True when parents far from closing need not be locked, since only their counters change. */
  readonly counted?: boolean;
  /** What an earlier try was missing. */
  readonly extra: { readonly items: readonly string[]; readonly subtrees: readonly string[] };
  /** Locks and reads the resources that the decision is about; called when the rows are locked. */
  readonly leasesOf: (judged: readonly ItemState[], configured: Configured) => Promise<LeaseBook>;
  /** What is configured for items of these rows; called when they are locked. */
  readonly configured: (found: FoundRows) => Promise<Configured>;
  /** What an edge that says nothing means when its blocker is cancelled. */
  readonly onCancelled: Edge["onCancelled"];
}

/** Locks and loads. Items that do not exist are simply not in the world. */
export async function loadWorld(handle: Handle, input: LoadWorld): Promise<World> {
  const { starting = [], alone = [], ahead, extra } = input;
  // What nobody judges has no neighbours; what an earlier try was missing is judged like the rest.
  const judges = (input.closing ?? []).length + starting.length > 0 || ahead !== undefined;
  const closing = judges ? [...(input.closing ?? []), ...extra.items] : [];
  const others = judges ? alone : [...alone, ...extra.items];
  const near = input.counted === true ? NEAR_CLOSING : ALL_PARENTS;
  const run = ahead === undefined ? { lock, surroundings } : AHEAD[ahead];
  // Sent together; the second runs after the first has its locks, and sees what was committed meanwhile.
  const [rows, [around]] = await Promise.all([
    run.lock(handle, [closing, starting, others, extra.subtrees, near]),
    judges || extra.subtrees.length > 0 ? run.surroundings(handle, [closing, starting, extra.subtrees]) : [],
  ]);
  refuseGrown(rows, around?.found.below ?? []);
  const states = rows.map(toItemState);
  const judged = withParents(rows, new Set(around?.found.judged));
  const configs = new Map(Object.entries(around?.configs ?? {}));
  const configured = await input.configured({ states, judged, configs });
  const known = new Set(judged);
  return new World({
    ...configured,
    now: rows[0]?.now.getTime() ?? 0,
    states,
    leases: await input.leasesOf(
      states.filter(({ id }) => known.has(id)),
      configured,
    ),
    edges: (around?.found.edges ?? []).map((row) => toEdge(row, input.onCancelled)),
    edgesOf: judged,
    subtrees: extra.subtrees,
    parents: new Map(
      Object.entries(around?.found.parents ?? {}).map(([id, [role, openChildren]]) => [
        id,
        { role, openChildren },
      ]),
    ),
  });
}

/** The rows whose edges were read. */
function withParents(rows: readonly StateRow[], judged: ReadonlySet<string>): string[] {
  return rows.flatMap(({ item_id: id, parent_id: parentId }) => {
    if (!judged.has(id)) return [];
    return parentId === null ? [id] : [id, parentId];
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
