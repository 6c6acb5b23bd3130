/** Who holds what. */
import { CompiledQuery } from "kysely";
import type { Role } from "../../services/core/roles.ts";
import type { Handle } from "../statement.ts";
import { narrowed } from "./item-read-store.ts";
import { matchesFilter, Parameters } from "./readiness-sql.ts";

export interface ClaimRow {
  item_id: string;
  root_id: string;
  title: string;
  role: Role;
  agent: string;
  session: string;
  fence: number;
  attempts: number;
  claimed_at: Date;
  original_claimed_at: Date | null;
  expires_at: Date;
  ttl_ms: number;
  now: Date;
}

export interface ClaimFilter {
  readonly agent?: string | undefined;
  readonly ancestorId?: string | undefined;
  readonly lapsed?: boolean | undefined;
  /** What the caller sees; undefined: everything. */
  readonly scope?: readonly string[] | undefined;
  /** Of these items. */
  readonly ids?: readonly string[] | undefined;
}

export interface ClaimListQuery extends ClaimFilter {
  readonly limit: number;
  readonly offset: number;
}

/** Condition on `s`, the state of an item that somebody holds. */
function isMeant(query: ClaimFilter, parameters: Parameters): string {
  const { ancestorId, scope } = query;
  const filter = { ancestorId, scope };
  const conditions = [
    "s.agent is not null",
    ...narrowed(filter, parameters),
    matchesFilter(filter, parameters),
  ];
  if (query.ids !== undefined) conditions.push(`s.item_id = any(${parameters.add(query.ids, "::uuid[]")})`);
  if (query.agent !== undefined) conditions.push(`s.agent = ${parameters.add(query.agent, "::text")}`);
  // At the very instant of its expiry a claim has lapsed, for reads and writes alike.
  if (query.lapsed !== undefined) conditions.push(`s.expires_at ${query.lapsed ? "<=" : ">"} muster_now()`);
  return conditions.join(" and ");
}

/** Held items that a filter means, those that end first at the head, at most so many; and how many in all. */
export async function findHeld(
  handle: Handle,
  filter: ClaimFilter,
  max: number,
): Promise<{ ids: string[]; total: number }> {
  const total = await countHeld(handle, filter);
  if (max === 0 || total === 0) return { ids: [], total };
  const parameters = new Parameters();
  const { rows } = await handle.executeQuery<{ item_id: string }>(
    CompiledQuery.raw(
      `select s.item_id from item_state s where ${isMeant(filter, parameters)}
       order by s.expires_at, s.item_id limit ${parameters.add(max, "::int")}`,
      parameters.values,
    ),
  );
  return { ids: rows.map((row) => row.item_id), total };
}

async function countHeld(handle: Handle, filter: ClaimFilter): Promise<number> {
  const counting = new Parameters();
  const counted = await handle.executeQuery<{ total: number }>(
    CompiledQuery.raw(
      `select count(*)::int as total from item_state s where ${isMeant(filter, counting)}`,
      counting.values,
    ),
  );
  return counted.rows[0]?.total ?? 0;
}

/** A page, those that end first at its head, and how many there are in all. */
export async function listHeld(
  handle: Handle,
  query: ClaimListQuery,
): Promise<{ rows: ClaimRow[]; total: number }> {
  const total = await countHeld(handle, query);
  const parameters = new Parameters();
  const { rows } = await handle.executeQuery<ClaimRow>(
    CompiledQuery.raw(
      `select s.item_id, s.root_id, i.title, s.role, s.agent, s.session, s.fence, s.attempts, s.claimed_at,
         s.original_claimed_at, s.expires_at, s.ttl_ms, muster_now() as now
       from item_state s join items i on i.id = s.item_id
       where ${isMeant(query, parameters)} order by s.expires_at, s.item_id
       limit ${parameters.add(query.limit, "::int")} offset ${parameters.add(query.offset, "::int")}`,
      parameters.values,
    ),
  );
  return { rows, total };
}
