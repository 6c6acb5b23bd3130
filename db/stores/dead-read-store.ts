/** Items whose attempts are used up. */
import { CompiledQuery } from "kysely";
import type { EndReason } from "../../services/core/state.ts";
import type { Handle } from "../statement.ts";
import { narrowed } from "./item-read-store.ts";
import { matchesFilter, Parameters, type SelectorFilter } from "./readiness-sql.ts";

export interface DeadFilter extends Pick<SelectorFilter, "ancestorId" | "type" | "tags" | "scope"> {
  /** Of these items. */
  readonly ids?: readonly string[] | undefined;
}

export interface DeadRow {
  item_id: string;
  root_id: string;
  title: string;
  type: string | null;
  status_label: string | null;
  attempts: number;
  role_changed_at: Date;
  end_reason: EndReason | null;
  detail: string | null;
}

/** Condition on `s`, the state of an item. */
function isMeant({ ids, ...filter }: DeadFilter, parameters: Parameters): string {
  const conditions = ["s.dead", ...narrowed(filter, parameters), matchesFilter(filter, parameters)];
  if (ids !== undefined) conditions.push(`s.item_id = any(${parameters.add(ids, "::uuid[]")})`);
  return conditions.join(" and ");
}

const NEWEST_FIRST = "s.role_changed_at desc, s.item_id";

/** A page, those that died last at its head, each with its latest attempt; and how many there are in all. */
export async function listDeadItems(
  handle: Handle,
  filter: DeadFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ rows: DeadRow[]; total: number }> {
  const { total } = await findDead(handle, filter, 0);
  const parameters = new Parameters();
  const { rows } = await handle.executeQuery<DeadRow>(
    CompiledQuery.raw(
      `select s.item_id, s.root_id, i.title, s.type, s.status_label, s.attempts, s.role_changed_at, last.end_reason,
         last.detail
       from (select s.* from item_state s where ${isMeant(filter, parameters)} order by ${NEWEST_FIRST}
         limit ${parameters.add(limit, "::int")} offset ${parameters.add(offset, "::int")}) s
       join items i on i.id = s.item_id
       left join lateral (select a.end_reason, a.detail from attempts a where a.item_id = s.item_id
         order by a.fence desc limit 1) last on true
       order by ${NEWEST_FIRST}`,
      parameters.values,
    ),
  );
  return { rows, total };
}

/** Ids of those that a filter means, at most so many, and how many there are in all. */
export async function findDead(
  handle: Handle,
  filter: DeadFilter,
  max: number,
): Promise<{ ids: string[]; total: number }> {
  const counting = new Parameters();
  const counted = await handle.executeQuery<{ total: number }>(
    CompiledQuery.raw(
      `select count(*)::int as total from item_state s where ${isMeant(filter, counting)}`,
      counting.values,
    ),
  );
  const total = counted.rows[0]?.total ?? 0;
  if (max === 0 || total === 0) return { ids: [], total };
  const parameters = new Parameters();
  const { rows } = await handle.executeQuery<{ item_id: string }>(
    CompiledQuery.raw(
      `select s.item_id from item_state s where ${isMeant(filter, parameters)} order by ${NEWEST_FIRST}
       limit ${parameters.add(max, "::int")}`,
      parameters.values,
    ),
  );
  return { ids: rows.map((row) => row.item_id), total };
}
