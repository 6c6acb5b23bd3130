/** Reads of edges: those of one item, and the graph around it. */
import { CompiledQuery } from "kysely";
import type { Outcome, Priority, Role } from "../../services/core/roles.ts";
import { type Handle, statement } from "../statement.ts";
import type { DependencyRow } from "./dependency-store.ts";
import { inScope, Parameters } from "./readiness-sql.ts";

export interface ShownEdgeRow extends DependencyRow {
  readonly from_title: string;
  readonly from_role: Role;
  readonly from_priority: Priority;
  readonly from_outcome: Outcome | null;
  readonly to_title: string;
  readonly to_role: Role;
  readonly to_priority: Priority;
}

/** Which edges of an item, by the end that it is at. */
export interface EdgeQuery {
  readonly itemId: string;
  readonly into: readonly DependencyRow["type"][];
  readonly outOf: readonly DependencyRow["type"][];
  /** What the caller sees; null: everything. An edge to something else is none. */
  readonly scope: readonly string[] | null;
  readonly limit: number;
  readonly offset: number;
}

/** A page, oldest first, and how many there are in all: one statement, through the indexes of both ends. */
export async function listEdges(
  handle: Handle,
  query: EdgeQuery,
): Promise<{ rows: ShownEdgeRow[]; total: number }> {
  const parameters = new Parameters();
  const item = parameters.add(query.itemId, "::uuid");
  const { scope } = query;
  const seen = (column: string): string =>
    scope === null
      ? ""
      : ` and exists (select 1 from item_state v where v.item_id = d.${column} and ${inScope("v.item_id", "v.ancestors", scope, parameters)})`;
  const end = (column: string, types: readonly string[], other: string): string =>
    `select * from dependencies d where d.${column} = ${item} and d.type = any(${parameters.add(types, "::text[]")})${seen(other)}`;
  const ends = [end("from_item", query.outOf, "to_item"), end("to_item", query.into, "from_item")];
  const text = `with mine as materialized (${ends.join(" union all ")})
    select totals.total, p.* from (select count(*)::int as total from mine) totals left join (
      select d.id, d.from_item, d.to_item, d.type, d.unblock_at, d.on_cancelled, d.created_at,
        f.title as from_title, fs.role as from_role, fs.priority as from_priority, fs.outcome as from_outcome,
        t.title as to_title, ts.role as to_role, ts.priority as to_priority
      from (select * from mine order by created_at, id
        limit ${parameters.add(query.limit, "::int")} offset ${parameters.add(query.offset, "::int")}) d
      join items f on f.id = d.from_item join item_state fs on fs.item_id = d.from_item
      join items t on t.id = d.to_item join item_state ts on ts.item_id = d.to_item
    ) p on true order by p.created_at, p.id`;
  type Row = { total: number } & (ShownEdgeRow | { id: null });
  const { rows } = await handle.executeQuery<Row>(CompiledQuery.raw(text, parameters.values));
  return {
    rows: rows.filter((row): row is { total: number } & ShownEdgeRow => row.id !== null),
    total: rows[0]?.total ?? 0,
  };
}

export interface EdgeCountsRow {
  readonly incoming: number;
  readonly outgoing: number;
  readonly relates: number;
}

const counting = (seen: string): string =>
  `select (count(*) filter (where d.type = 'BLOCKS' and d.to_item = $1))::int as incoming,
     (count(*) filter (where d.type = 'BLOCKS' and d.from_item = $1))::int as outgoing,
     (count(*) filter (where d.type = 'RELATES_TO'))::int as relates
   from (select * from dependencies where from_item = $1 union all select * from dependencies where to_item = $1) d${seen}`;

/** Both ends: that of the item itself is seen anyway. */
const SEEN = (n: number, column: string): string =>
  `exists (select 1 from item_state v where v.item_id = ${column}
     and (v.item_id = any($${n}::uuid[]) or v.ancestors && $${n}::uuid[]))`;

const counts = statement<EdgeCountsRow>("dependencies_counts_of", counting(""));
const countsWithin = statement<EdgeCountsRow>(
  "dependencies_counts_within",
  counting(` where ${SEEN(2, "d.from_item")} and ${SEEN(2, "d.to_item")}`),
);

/** Of all its edges that the caller sees, whatever is shown of them. */
export async function countEdges(
  handle: Handle,
  itemId: string,
  scope: readonly string[] | null,
): Promise<EdgeCountsRow> {
  const [row] = scope === null ? await counts(handle, [itemId]) : await countsWithin(handle, [itemId, scope]);
  return row ?? { incoming: 0, outgoing: 0, relates: 0 };
}

/** Nearest first: the recursion goes step by step, and stops when the limit has been read. */
function reached(name: string, step: string) {
  return statement<{ id: string }>(
    name,
    `with recursive reach(id) as (select $1::uuid union ${step}) select id from reach limit $2`,
  );
}

const AGAINST = `select d.from_item from reach r join dependencies d on d.to_item = r.id and d.type = 'BLOCKS'`;
const ALONG = `select d.to_item from reach r join dependencies d on d.from_item = r.id and d.type = 'BLOCKS'`;

const WAYS = {
  incoming: reached("dependencies_reached_against", AGAINST),
  outgoing: reached("dependencies_reached_along", ALONG),
} as const;

/** A walk stops where the caller's sight ends: what is behind is not told by what lies beyond it. */
const WAYS_WITHIN = {
  incoming: reached("dependencies_reached_against_within", `${AGAINST} where ${SEEN(3, "d.from_item")}`),
  outgoing: reached("dependencies_reached_along_within", `${ALONG} where ${SEEN(3, "d.to_item")}`),
} as const;

/** What an item waits for, or what waits for it, at any distance; itself included, at most `limit`. */
export async function reachThrough(
  handle: Handle,
  way: keyof typeof WAYS,
  itemId: string,
  limit: number,
  scope: readonly string[] | null,
): Promise<string[]> {
  const rows =
    scope === null
      ? await WAYS[way](handle, [itemId, limit])
      : await WAYS_WITHIN[way](handle, [itemId, limit, scope]);
  return rows.map((row) => row.id);
}
