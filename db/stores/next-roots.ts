/**
 * Whose turn is it? Roots with fewer claims held come first, among equals the one that was
 * served least recently. Nothing is written for it: a row per root that every claim
 * updates would make claims of one root queue up behind each other. Held claims are
 * counted from the claims themselves, and the last service is read off the newest events.
 */
import { CompiledQuery } from "kysely";
import type { Role } from "../../services/core/roles.ts";
import { type Handle, statement } from "../statement.ts";
import { claimableRow } from "./readiness-sql.ts";

/** Roots that take part in one choice. With more, each choice looks at another stretch of them. */
export const ROOTS_PER_CHOICE = 200;
/** How far back the last service is looked for; a root that is not found there waited longer than all others. */
const EVENTS_LOOKED_AT = 2_000;
/** Where no index leads from root to root, the candidates themselves are looked through. */
const ROWS_LOOKED_AT = 5_000;

/**
 * Jumps from root to root along the index, however many items each has: from `$1` on to
 * the last, then from the first on.
 */
const READY_ROOTS = `with recursive ahead(id, n) as (
    (select s.root_id, 1 from item_state s where ${claimableRow("queue", false)} and s.root_id >= $1::uuid
      order by s.root_id limit 1)
    union all
    select (select s.root_id from item_state s where ${claimableRow("queue", false)} and s.root_id > r.id
      order by s.root_id limit 1), r.n + 1
    from ahead r where r.id is not null and r.n <= ${ROOTS_PER_CHOICE}
  ), behind(id, n) as (
    (select s.root_id, 1 from item_state s where ${claimableRow("queue", false)} and s.root_id < $1::uuid
      order by s.root_id limit 1)
    union all
    select (select s.root_id from item_state s where ${claimableRow("queue", false)} and s.root_id > r.id and s.root_id < $1::uuid
      order by s.root_id limit 1), r.n + 1
    from behind r where r.id is not null and r.n <= ${ROOTS_PER_CHOICE}
  )
  select id from (select id, 0 as lap, n from ahead union all select id, 1, n from behind) found
  where id is not null order by lap, n limit ${ROOTS_PER_CHOICE}`;

/** The roots in `found`, in turn order. */
function inTurn(found: string): string {
  return `with found as materialized (${found}), held as (
      select h.root_id, count(*) as claims from item_state h
      where h.agent is not null and h.root_id in (select id from found) group by h.root_id
    ), served as (
      select e.root_id, max(e.seq) as seq
      from (select root_id, seq, type from events order by seq desc limit ${EVENTS_LOOKED_AT}) e
      where e.type = 'claim.granted' group by e.root_id
    )
    select f.id from found f left join held h on h.root_id = f.id left join served v on v.root_id = f.id
    order by coalesce(h.claims, 0), v.seq nulls first, f.id`;
}

const readyRoots = statement<{ id: string }>("next_ready_roots", inTurn(READY_ROOTS));

const rootsAbove = statement<{ id: string }>(
  "next_roots_above",
  inTurn(`select distinct s.root_id as id from item_state s where s.item_id = any($1::uuid[])`),
);

/**
 * Roots that have something to offer, in the order in which they are to be served.
 *
 * @param within only the roots of these items: what is asked for lies below them
 * @param start where to begin when there are more roots than fit; a random uuid is fair to all
 */
export async function rankRoots(
  handle: Handle,
  kind: { readonly role: Role; readonly containers: boolean },
  start: string,
  within?: readonly string[],
): Promise<string[]> {
  if (within !== undefined) return (await rootsAbove(handle, [within])).map((row) => row.id);
  if (kind.role === "queue" && !kind.containers)
    return (await readyRoots(handle, [start])).map((row) => row.id);
  const found = `select s.root_id as id from (select s.root_id from item_state s
    where ${claimableRow(kind.role, kind.containers)}${kind.containers ? " and s.open_children > 0" : ""}
    order by s.rank, s.created_at, s.item_id limit ${ROWS_LOOKED_AT}) s
    group by s.root_id order by s.root_id < $1::uuid, s.root_id limit ${ROOTS_PER_CHOICE}`;
  const { rows } = await handle.executeQuery<{ id: string }>(CompiledQuery.raw(inTurn(found), [start]));
  return rows.map((row) => row.id);
}
