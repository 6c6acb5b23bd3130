/**
 * Chooses items for recommendations and for claims: the same filter, the same predicate,
 * the same order. Roles are a preference: all that the first one offers comes before
 * anything of the second.
 */
import { randomUUID } from "node:crypto";
import type { Role } from "../../services/core/roles.ts";
import { type Handle, runGenerated } from "../statement.ts";
import { type Head, HEAD_COLUMNS, type HeadRow, toHead } from "./claimed-head-store.ts";
import { rankRoots } from "./next-roots.ts";
import { type CandidatePath, type CandidateSql, candidateSql, pathsFor } from "./next-sql.ts";
import {
  matchesFilter,
  offeredTo,
  Parameters,
  type Ranking,
  RANKINGS,
  type SelectorAsker,
  type SelectorFilter,
} from "./readiness-sql.ts";

export interface CandidateQuery {
  readonly filter: SelectorFilter;
  readonly asker: SelectorAsker;
  readonly roles: readonly Role[];
  /** Items with open children as well. */
  readonly containers: boolean;
  readonly startable: boolean;
  readonly ranking: Ranking;
  readonly limit: number;
  /** Lock what is chosen and pass over what others have locked. Only inside a transaction. */
  readonly lock?: boolean;
}

/** What the order of candidates is made of. */
export interface RankedRow {
  item_id: string;
  rank: number;
  created_at: Date;
}

/**
 * Ids of items that are offered, best first. A statement or two per role, however many
 * items there are. With `lock`, containers beside leaves may lock up to twice the limit.
 */
export async function selectCandidates(handle: Handle, query: CandidateQuery): Promise<string[]> {
  const chosen: string[] = [];
  for (const role of query.roles) {
    const limit = query.limit - chosen.length;
    if (limit <= 0) break;
    const leaves = await selectKind(handle, query, role, false, limit);
    const containers = query.containers ? await selectKind(handle, query, role, true, limit) : [];
    chosen.push(...merge(leaves, containers, query.ranking, limit));
  }
  return chosen;
}

/** What a locking choice found, with what a claim answers about it. */
export interface ChosenAhead {
  readonly ids: readonly string[];
  readonly heads: ReadonlyMap<string, Head>;
}

/**
 * The same choice with the lock, in one statement that waits for nothing: later statements of
 * the transaction find what was chosen by `muster_picked()`. Only the first step is taken, which
 * may yield too little where {@link hasSecondStep} says so.
 *
 * @returns null if this choice has to look at something first
 */
export function chooseAhead(
  handle: Handle,
  query: Omit<CandidateQuery, "lock">,
): Promise<ChosenAhead> | null {
  if (query.ranking === "fair" || query.containers) return null;
  const parameters = new Parameters();
  const steps = query.roles.map((role, step) => {
    const after = query.roles.slice(0, step).map((_, earlier) => `step_${earlier}`);
    const one: CandidateSql = { ...query, role, containers: false, lock: true, after };
    return `step_${step} as materialized (${candidateSql(one, firstPath(one), parameters)})`;
  });
  const rows = query.roles.map((_, step) => `select item_id from step_${step}`).join(" union all ");
  const text = `with ${steps.join(", ")}, chosen as materialized (
      select row_number() over () as n, u.item_id from (${rows}) u
    ) select ${HEAD_COLUMNS}, (select set_config('muster.picked', array_agg(o.item_id)::text, true) from chosen o) is null
    from items i join chosen c on c.item_id = i.id
    where i.id = any(array(select o.item_id from chosen o)) order by c.n`;
  return runGenerated<HeadRow>(handle, text, parameters.values).then((found) => ({
    ids: found.map((row) => row.id),
    heads: new Map(found.map((row) => [row.id, toHead(row)])),
  }));
}

/** True if a first step that yielded too little has not seen everything. */
export function hasSecondStep(query: Omit<CandidateQuery, "lock">): boolean {
  const { filter, ranking, containers } = query;
  return query.roles.some((role) => pathsFor({ filter, role, containers, ranking }).length > 1);
}

function firstPath(one: CandidateSql): CandidatePath {
  const [path] = pathsFor(one);
  if (path === undefined) throw new Error("a choice without a path");
  return path;
}

/** Leaves or containers of one role. */
async function selectKind(
  handle: Handle,
  query: CandidateQuery,
  role: Role,
  containers: boolean,
  limit: number,
): Promise<RankedRow[]> {
  const { filter, asker, startable, ranking, lock = false } = query;
  const one: CandidateSql = { filter, asker, role, containers, startable, ranking, limit, lock };
  return ranking === "fair" ? await selectInTurn(handle, one) : await selectByPaths(handle, one);
}

async function selectByPaths(handle: Handle, one: CandidateSql): Promise<RankedRow[]> {
  let best: RankedRow[] = [];
  for (const path of pathsFor(one)) {
    const parameters = new Parameters();
    const rows = await runGenerated<RankedRow>(
      handle,
      candidateSql(one, path, parameters),
      parameters.values,
    );
    if (rows.length > best.length) best = rows;
    if (best.length >= one.limit) break;
  }
  return best;
}

/** Roots are asked a few at a time: the first ones nearly always have enough. */
async function selectInTurn(handle: Handle, one: CandidateSql): Promise<RankedRow[]> {
  const kind = { role: one.role, containers: one.containers };
  const { ancestorId, scope } = one.filter;
  const within = ancestorId === undefined ? scope : [ancestorId];
  const turns = await rankRoots(handle, kind, randomUUID(), within);
  const first = Math.max(8, one.limit);
  const chosen: RankedRow[] = [];
  for (const roots of [turns.slice(0, first), turns.slice(first)]) {
    const limit = one.limit - chosen.length;
    if (limit <= 0 || roots.length === 0) break;
    chosen.push(...(await selectByPaths(handle, { ...one, limit, roots })));
  }
  return chosen;
}

/** The orders of `RANKINGS`, for rows that were read apart. */
export const RANKED_ORDERS: Readonly<Record<Ranking, (a: RankedRow, b: RankedRow) => number>> = {
  priority: (a, b) => a.rank - b.rank || byAge(a, b),
  fair: (a, b) => a.rank - b.rank || byAge(a, b),
  oldest: byAge,
  newest: (a, b) => byAge(b, a),
};

function byAge(a: RankedRow, b: RankedRow): number {
  return a.created_at.getTime() - b.created_at.getTime() || (a.item_id < b.item_id ? -1 : 1);
}

function merge(leaves: RankedRow[], containers: RankedRow[], ranking: Ranking, limit: number): string[] {
  const rows = containers.length === 0 ? leaves : [...leaves, ...containers].toSorted(RANKED_ORDERS[ranking]);
  return rows.slice(0, limit).map((row) => row.item_id);
}

/** Claims that stand where an offer would be: those of one holder, or everybody's. */
export interface HeldQuery extends Omit<CandidateQuery, "lock"> {
  /** `null`: everybody's. */
  readonly holder: { readonly agent: string; readonly session: string | null } | null;
}

/** Ids of items that would be offered if nobody held them, best first. As many rows are looked at as claims are held. */
export async function selectHeld(handle: Handle, query: HeldQuery): Promise<string[]> {
  const parameters = new Parameters();
  const conditions = [
    `s.agent is not null`,
    `s.role = any(${parameters.add(query.roles, "::text[]")})`,
    `s.blockers = 0 and s.ancestor_blockers = 0`,
    ...(query.containers ? [] : [`s.open_children = 0`]),
    ...(query.holder === null ? [] : [`s.agent = ${parameters.add(query.holder.agent, "::text")}`]),
    ...(query.holder?.session ? [`s.session = ${parameters.add(query.holder.session, "::text")}`] : []),
    matchesFilter(query.filter, parameters),
    offeredTo(query.asker, query.startable, parameters),
  ];
  const text = `select s.item_id, s.rank, s.created_at from item_state s where ${conditions.join(" and ")}
    order by array_position(${parameters.add(query.roles, "::text[]")}, s.role), ${RANKINGS[query.ranking]}
    limit ${parameters.add(query.limit, "::int")}`;
  return (await runGenerated<RankedRow>(handle, text, parameters.values)).map((row) => row.item_id);
}
