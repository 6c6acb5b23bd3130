/**
 * The text of the statements that choose items: for recommendations, which only look, and
 * for claims, which lock what they take. One builder for both, so that looking and taking
 * cannot choose differently.
 *
 * Two regimes, two steps. A ranked index finds the best row at once when most rows match
 * a filter and walks for ever when few do; a set of matches is small when few match and
 * enormous when most do. So a filtered choice first walks a bounded stretch of the ranked
 * index, and only when that was full and yielded too little collects the set and sorts
 * it. A filter that an index knows by heart (root, parent, priority) needs no second step.
 *
 *   straight   ranked index, no bound: nothing to filter by
 *   walk       the first WALK_ROWS rows of the ranked index, filtered
 *   set        matches from the content's indexes, joined to their state, sorted
 *
 * Equal selectors give equal text, so that the statements stay prepared.
 */
import type { Role } from "../../services/core/roles.ts";
import {
  claimableRow,
  inScope,
  matchesFilter,
  narrows,
  offeredTo,
  type Parameters,
  type Ranking,
  RANKINGS,
  type SelectorAsker,
  type SelectorFilter,
} from "./readiness-sql.ts";

/** How far the first step walks along a ranked index. */
export const WALK_ROWS = 400;
/** The same for each root, where roots take turns. */
const WALK_ROWS_PER_ROOT = 50;
const SPARE_ROWS_PER_ROOT = 8;
/** Candidates beyond the limit that a locking choice may fall back on when others hold the best ones. */
const SPARE_ROWS = 64;

export type CandidatePath = "straight" | "walk" | "set";

export interface CandidateSql {
  readonly filter: SelectorFilter;
  readonly asker: SelectorAsker;
  readonly role: Role;
  /** Leaves and containers have indexes of their own; a statement reads one of the two. */
  readonly containers: boolean;
  readonly startable: boolean;
  readonly ranking: Ranking;
  readonly limit: number;
  /** Lock what is chosen, passing over rows that others have locked. */
  readonly lock: boolean;
  /** Roots in the order of their turns; only for `fair`. */
  readonly roots?: readonly string[];
  /** Choices of the same statement that have taken some of the limit already. */
  readonly after?: readonly string[];
}

/** Steps to take until enough was found. */
export function pathsFor(
  query: Pick<CandidateSql, "filter" | "role" | "containers" | "ranking">,
): CandidatePath[] {
  return narrows(unanchored(query)) ? ["walk", "set"] : ["straight"];
}

export function candidateSql(query: CandidateSql, path: CandidatePath, parameters: Parameters): string {
  if (query.roots !== undefined) return fairSql(query, query.roots, path, parameters);
  if (path === "straight") return straightSql(query, parameters);
  const order = RANKINGS[query.ranking];
  const limit = parameters.add(query.lock ? query.limit + SPARE_ROWS : query.limit, "::int");
  const conditions = `${matchesFilter(query.filter, parameters)} and ${offeredTo(query.asker, query.startable, parameters)}`;
  const picked =
    path === "walk"
      ? `select ${KEYS} from (${walk(query, WALK_ROWS, parameters)}) s where ${conditions} order by ${order} limit ${limit}`
      : `select ${KEYS} from ${setSource(query, parameters)} where ${segment(query)} and ${conditions} order by ${order} limit ${limit}`;
  return query.lock ? locking(query, picked, order.replaceAll("s.", "p."), parameters) : picked;
}

const KEYS = "s.item_id, s.rank, s.created_at";

/** The rows of one partial index. */
function segment(query: Pick<CandidateSql, "role" | "containers">): string {
  return claimableRow(query.role, query.containers) + (query.containers ? " and s.open_children > 0" : "");
}

function straightSql(query: CandidateSql, parameters: Parameters): string {
  const conditions = [
    segment(query),
    ...anchors(query, parameters),
    offeredTo(query.asker, query.startable, parameters),
  ];
  return `select ${KEYS} from item_state s where ${conditions.join(" and ")}
    order by ${RANKINGS[query.ranking]} limit ${wanted(query, parameters)}${query.lock ? " for no key update of s skip locked" : ""}`;
}

function walk(query: CandidateSql, rows: number, parameters: Parameters): string {
  const conditions = [segment(query), ...anchors(query, parameters)].join(" and ");
  return `select s.* from item_state s where ${conditions} order by ${RANKINGS[query.ranking]} limit ${rows}`;
}

/** Locks as few of the picked rows as are wanted; what others hold is passed over, and what they changed is judged anew. */
function locking(query: CandidateSql, picked: string, order: string, parameters: Parameters): string {
  return `select ${KEYS} from (${picked}) p join item_state s on s.item_id = p.item_id
    where ${segment(query)} order by ${order} limit ${wanted(query, parameters)}
    for no key update of s skip locked`;
}

function wanted(query: CandidateSql, parameters: Parameters): string {
  const limit = parameters.add(query.limit, "::int");
  const { after = [] } = query;
  return after.length === 0
    ? limit
    : `greatest(0, ${[limit, ...after.map((name) => `(select count(*) from ${name})`)].join(" - ")})`;
}

/** True of leaves in the queue, whose indexes by root and by parent hold the ranking as well. */
function hasAnchoredIndex(query: Pick<CandidateSql, "role" | "containers" | "ranking">): boolean {
  return (
    query.role === "queue" && !query.containers && (query.ranking === "priority" || query.ranking === "fair")
  );
}

/** Conditions that the ranked indexes themselves can hold, and that therefore bound a walk. */
function anchors(
  query: Pick<CandidateSql, "filter" | "role" | "containers" | "ranking">,
  parameters: Parameters,
): string[] {
  const { parentId, rootId, ancestorId, priority } = query.filter;
  const conditions: string[] = [];
  if (hasAnchoredIndex(query)) {
    if (parentId !== undefined) conditions.push(`s.parent_id = ${parameters.add(parentId, "::uuid")}`);
    if (rootId !== undefined) conditions.push(`s.root_id = ${parameters.add(rootId, "::uuid")}`);
    else if (ancestorId !== undefined && parentId === undefined) {
      conditions.push(
        `s.root_id = (select r.root_id from item_state r where r.item_id = ${parameters.add(ancestorId, "::uuid")})`,
      );
    }
  }
  if (ancestorId !== undefined) {
    // Whatever holds the top of a subtree holds all of it: then there is nothing to walk or to collect.
    conditions.push(
      `(select r.blockers + r.ancestor_blockers from item_state r where r.item_id = ${parameters.add(ancestorId, "::uuid")}) = 0`,
    );
  }
  const band = priority === undefined || isByAge(query.ranking) ? undefined : RANK_BANDS[priority];
  if (band !== undefined) conditions.push(`s.rank between ${band[0]} and ${band[1]}`);
  return conditions;
}

/** What is left to filter by when the anchors have done their part. */
function unanchored(query: Pick<CandidateSql, "filter" | "role" | "containers" | "ranking">): SelectorFilter {
  const { parentId, rootId, priority, ...rest } = query.filter;
  const byIndex = hasAnchoredIndex(query);
  return {
    ...rest,
    ...(byIndex ? {} : { parentId, rootId }),
    ...(isByAge(query.ranking) ? { priority } : {}),
  };
}

const isByAge = (ranking: Ranking): boolean => ranking === "oldest" || ranking === "newest";

/** Where the ranks of a priority lie, whatever the complexity; see `muster_rank`. */
const RANK_BANDS: Readonly<Record<string, readonly [number, number]>> = {
  high: [0, 15],
  medium: [16, 31],
  low: [32, 47],
};

/** Matches by the content's own indexes, but only if the walk before was full: else it has seen everything. */
function setSource(query: CandidateSql, parameters: Parameters): string {
  const conditions = contentConditions(query.filter, parameters);
  const more = `(select count(*) from (${walk(query, WALK_ROWS, parameters)}) w) = ${WALK_ROWS}`;
  // Nothing that an index of the content knows: what is left is a longer walk.
  if (conditions.length === 0) return `(select s.* from item_state s where ${segment(query)} and ${more}) s`;
  return `(with matches as materialized (select i.id from items i where ${more} and ${conditions.join(" and ")})
    select s.* from matches m join item_state s on s.item_id = m.id) s`;
}

/** The part of a filter that indexes of `items` answer; `i` is the item. A subset of what the filter says. */
export function contentConditions(filter: SelectorFilter, parameters: Parameters): string[] {
  const conditions: string[] = [];
  if (filter.tags !== undefined && filter.tags.length > 0) {
    conditions.push(`i.tags && ${parameters.add(filter.tags, "::text[]")}`);
  }
  if (filter.ancestorId !== undefined) {
    const id = parameters.add(filter.ancestorId, "::uuid");
    conditions.push(`(i.ancestors @> array[${id}] or i.id = ${id})`);
  }
  if (filter.scope !== undefined) conditions.push(inScope("i.id", "i.ancestors", filter.scope, parameters));
  if (filter.parentId !== undefined)
    conditions.push(`i.parent_id = ${parameters.add(filter.parentId, "::uuid")}`);
  if (filter.type !== undefined) conditions.push(`i.type = ${parameters.add(filter.type, "::text")}`);
  return conditions;
}

/** The best of each root in turn: first everybody's first, then everybody's second. */
function fairSql(
  query: CandidateSql,
  roots: readonly string[],
  path: CandidatePath,
  parameters: Parameters,
): string {
  const turns = `unnest(${parameters.add(roots, "::uuid[]")}) with ordinality as r(id, turn)`;
  const conditions = `${matchesFilter(query.filter, parameters)} and ${offeredTo(query.asker, query.startable, parameters)}`;
  const order = RANKINGS.fair;
  const own = `select s.* from item_state s where ${[segment(query), "s.root_id = r.id", ...anchors(query, parameters)].join(" and ")}`;
  // An order without a limit would be planned as if all of it were wanted: a sort of the whole root.
  const source = path === "straight" ? own : `${own} order by ${order} limit ${WALK_ROWS_PER_ROOT}`;
  const best =
    path === "set"
      ? `select ${KEYS}, r.turn from ${setSource(query, parameters)} join ${turns} on r.id = s.root_id
         where ${segment(query)} and ${conditions}`
      : `select s.*, r.turn from ${turns} cross join lateral (
           select ${KEYS} from (${source}) s where ${conditions} order by ${order}
           limit ${parameters.add(query.lock ? query.limit + SPARE_ROWS_PER_ROOT : query.limit, "::int")}) s`;
  const picked = `select ${KEYS}, s.turn, row_number() over (partition by s.turn order by ${order}) as round from (${best}) s`;
  if (query.lock) return locking(query, picked, "p.round, p.turn", parameters);
  return `select ${KEYS} from (${picked}) s order by s.round, s.turn limit ${parameters.add(query.limit, "::int")}`;
}
