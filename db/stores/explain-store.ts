/**
 * The working set of a decision that nobody will apply. Read like the locked one, row for
 * row, but without its locks: a preview must not hold up the writers it speaks of.
 */
import type { ItemState } from "../../services/core/state.ts";
import type { Edge } from "../../services/core/edges.ts";
import type { LeaseBook } from "../../services/core/leases/lease-book.ts";
import { World } from "../../services/core/world.ts";
import { type Handle, statement } from "../statement.ts";
import { STATE_COLUMNS, type StateRow, toItemState } from "./state-row.ts";
import { type Configured, toEdge } from "./world-store.ts";

/** `$1` are items with their neighbours, `$2` items whose whole subtree is needed. */
const peekRows = statement<StateRow & { now: Date }>(
  "explain_peek_rows",
  `select ${STATE_COLUMNS}, muster_now() as now
   from item_state s
   where s.item_id in (
     select unnest($1::uuid[])
     union select p.parent_id from item_state p where p.item_id = any($1::uuid[]) and p.parent_id is not null
     union select d.to_item from dependencies d where d.from_item = any($1::uuid[]) and d.type = 'BLOCKS'
     union select i.id from items i where i.ancestors && $2::uuid[]
   )`,
);

const peekEdges = statement<Parameters<typeof toEdge>[0]>(
  "explain_peek_edges",
  `select d.id, d.from_item, d.to_item, d.unblock_at, d.on_cancelled,
     exists (select 1 from items c where c.parent_id = d.to_item) as to_has_children
   from dependencies d where d.from_item = any($1::uuid[]) and d.type = 'BLOCKS'`,
);

export interface PeekWorld {
  readonly items: readonly string[];
  readonly subtrees: readonly string[];
  /** Reads the resources that the decisions are about. */
  readonly leasesOf: (states: readonly ItemState[]) => Promise<LeaseBook>;
  readonly configured: (states: readonly ItemState[]) => Promise<Configured>;
  readonly onCancelled: Edge["onCancelled"];
}

/** Makes worlds of one reading: each decision writes into its own. */
export async function peekWorld(handle: Handle, input: PeekWorld): Promise<() => World> {
  const rows = await peekRows(handle, [input.items, input.subtrees]);
  const ids = rows.map((row) => row.item_id);
  const edges = ids.length === 0 ? [] : await peekEdges(handle, [ids]);
  const states = rows.map(toItemState);
  const leases = await input.leasesOf(states);
  const parts = {
    ...(await input.configured(states)),
    now: rows[0]?.now.getTime() ?? 0,
    states,
    edges: edges.map((row) => toEdge(row, input.onCancelled)),
    subtrees: input.subtrees,
  };
  return () => new World({ ...parts, leases: leases.fork() });
}
