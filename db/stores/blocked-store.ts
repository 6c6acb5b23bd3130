/** What is stuck, and on what. */
import { CompiledQuery } from "kysely";
import type { Outcome, Priority, Role } from "../../services/core/roles.ts";
import { type Handle, statement } from "../statement.ts";
import { STUCK } from "./blocked-condition.ts";
import { narrowed } from "./item-read-store.ts";
import { matchesFilter, Parameters, type SelectorFilter } from "./readiness-sql.ts";

export interface StuckRow {
  item_id: string;
  ancestors: string[];
  title: string;
  summary: string;
  role: Role;
  priority: Priority;
  complexity: number | null;
  tags: string[];
  status_label: string | null;
  dead: boolean;
  /** Unsatisfied edges into the item. */
  blockers: number;
  /** Ancestors that wait for something. */
  held_by: string[];
  /** Unsatisfied edges into those ancestors. */
  above: number;
}

export interface StuckQuery {
  readonly filter: SelectorFilter;
  readonly limit: number;
  readonly offset: number;
}

/** A page, most urgent first, and how many there are in all: two statements. */
export async function listStuck(
  handle: Handle,
  query: StuckQuery,
): Promise<{ rows: StuckRow[]; total: number }> {
  const where = (parameters: Parameters): string =>
    [STUCK, ...narrowed(query.filter, parameters), matchesFilter(query.filter, parameters)].join(" and ");
  const counting = new Parameters();
  const counted = await handle.executeQuery<{ total: number }>(
    CompiledQuery.raw(
      `select count(*)::int as total from item_state s where ${where(counting)}`,
      counting.values,
    ),
  );
  const parameters = new Parameters();
  const page = `select s.item_id from item_state s where ${where(parameters)} order by s.rank, s.created_at, s.item_id
    limit ${parameters.add(query.limit, "::int")} offset ${parameters.add(query.offset, "::int")}`;
  const { rows } = await handle.executeQuery<StuckRow>(
    CompiledQuery.raw(
      `select s.item_id, s.ancestors, i.title, i.summary, s.role, s.priority, s.complexity, s.tags, s.status_label,
         s.dead, s.blockers, coalesce(up.ids, '{}') as held_by, coalesce(up.blockers, 0)::int as above
       from (${page}) p join item_state s on s.item_id = p.item_id join items i on i.id = p.item_id
       left join lateral (
         select array_agg(a.item_id) as ids, sum(a.blockers) as blockers from item_state a
         where a.item_id = any(s.ancestors) and a.blockers > 0 and s.ancestor_blockers > 0
       ) up on true
       order by s.rank, s.created_at, s.item_id`,
      parameters.values,
    ),
  );
  return { rows, total: counted.rows[0]?.total ?? 0 };
}

export interface IncomingEdgeRow {
  to_item: string;
  from_item: string;
  title: string;
  role: Role;
  outcome: Outcome | null;
  dead: boolean;
  unblock_at: "queue" | "work" | "review" | "terminal" | null;
  on_cancelled: "hold" | "release" | null;
}

// What is done satisfies every edge, so it comes last: the cap must not hide what matters.
const incoming = statement<IncomingEdgeRow>(
  "blocked_incoming_edges",
  `select t.id as to_item, e.*
   from unnest($1::uuid[]) as t(id) cross join lateral (
     select d.from_item, i.title, b.role, b.outcome, b.dead, d.unblock_at, d.on_cancelled
     from dependencies d join item_state b on b.item_id = d.from_item join items i on i.id = d.from_item
     where d.to_item = t.id and d.type = 'BLOCKS'
     order by b.outcome is not distinct from 'done', d.created_at, d.id limit $2
   ) e`,
);

/** Blocking edges into the items with their blockers' states, at most so many for each, by the item they lead to. */
export async function readIncomingEdges(
  handle: Handle,
  ids: Iterable<string>,
  perItem: number,
): Promise<Map<string, IncomingEdgeRow[]>> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return new Map();
  return Map.groupBy(await incoming(handle, [wanted, perItem]), (row) => row.to_item);
}
