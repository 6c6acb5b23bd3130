/**
 * The part of the order graph that a check for cycles can reach, in three statements
 * however large it is. Starts and ends are followed apart, as the check does: going up
 * from an item's end must not pull in its parent's other children.
 */
import type { OrderGraph } from "../../services/core/cycle.ts";
import { type Handle, statement } from "../statement.ts";

/** Where the walk begins. */
export interface Seed {
  readonly id: string;
  readonly side: "start" | "end";
}

const reach = statement<{ id: string }>(
  "dependency_reach",
  `with recursive reach(id, side) as (
     select c.id, c.side from jsonb_to_recordset($1::jsonb) as c(id uuid, side text)
     union
     select n.id, n.side
     from reach r
     cross join lateral (
       select r.id, 'end' where r.side = 'start'
       union all
       select c.id, 'start' from items c where r.side = 'start' and c.parent_id = r.id
       union all
       select d.to_item, 'start' from dependencies d
         where r.side = 'end' and d.from_item = r.id and d.type = 'BLOCKS'
       union all
       select i.parent_id, 'end' from items i
         where r.side = 'end' and i.id = r.id and i.parent_id is not null
     ) as n(id, side)
   )
   select id from reach limit $2`,
);

const places = statement<{ id: string; parent_id: string | null; root_id: string }>(
  "dependency_reach_places",
  `select id, parent_id, root_id from items where id = any($1::uuid[])`,
);

const edges = statement<{ from_item: string; to_item: string }>(
  "dependency_reach_edges",
  `select from_item, to_item from dependencies where from_item = any($1::uuid[]) and type = 'BLOCKS'`,
);

export interface ReachedGraph extends OrderGraph {
  /** Roots of everything reached: all must be locked for the verdict to hold. */
  readonly roots: ReadonlySet<string>;
}

/** Answers null if more than `itemsMax` items would have to be looked at. */
export async function loadReachedGraph(
  handle: Handle,
  seeds: readonly Seed[],
  itemsMax: number,
): Promise<ReachedGraph | null> {
  // Each item is met at most twice, as a start and as an end.
  const rows = await reach(handle, [JSON.stringify(seeds), 2 * itemsMax + 1]);
  const ids = [...new Set(rows.map((row) => row.id))];
  if (rows.length > 2 * itemsMax || ids.length > itemsMax) return null;
  const items = await places(handle, [ids]);
  const drawn = await edges(handle, [ids]);
  return {
    blocks: grouped(drawn.map((edge) => [edge.from_item, edge.to_item])),
    children: grouped(
      items.flatMap(({ id, parent_id }) => (parent_id === null ? [] : [[parent_id, id] as const])),
    ),
    parentOf: new Map(items.map((item) => [item.id, item.parent_id])),
    roots: new Set(items.map((item) => item.root_id)),
  };
}

function grouped(pairs: readonly (readonly [string, string])[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [key, value] of pairs) {
    const group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}
