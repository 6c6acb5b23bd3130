/** Pages of items in full. */
import type { Handle } from "../statement.ts";
import { runGenerated } from "../statement.ts";
import {
  FULL_ITEM_COLUMNS,
  type ItemListQuery,
  type ItemRow,
  narrowed,
  SORT_KEYS,
  stateConditions,
} from "./item-read-store.ts";
import { Parameters } from "./readiness-sql.ts";

export interface ItemPageQuery extends ItemListQuery {
  /** Each of them, not any. */
  readonly allTags?: readonly string[] | undefined;
  /** The item and what is below it, so many levels deep at most, the top first. */
  readonly tree?: { readonly id: string; readonly levels: number } | undefined;
  /** Of these only those that lie in no other of them: what somebody who sees their subtrees takes for roots. */
  readonly tops?: readonly string[] | undefined;
  /** These and no others, the nearest to the root first. */
  readonly ids?: readonly string[] | undefined;
}

/** A page and how many there are in all. */
export async function pageOfItems(
  handle: Handle,
  query: ItemPageQuery,
): Promise<{ rows: ItemRow[]; total: number }> {
  const counting = new Parameters();
  const counted = await runGenerated<{ total: number }>(
    handle,
    `select count(*)::int as total from item_state s where ${conditions(query, counting)}`,
    counting.values,
  );
  const parameters = new Parameters();
  const order = orderOf(query);
  const joined = query.sortBy === "title" ? "join items i on i.id = s.item_id" : "";
  const page = `select s.item_id from item_state s ${joined} where ${conditions(query, parameters)}
    order by ${order} limit ${parameters.add(query.limit, "::int")} offset ${parameters.add(query.offset, "::int")}`;
  const rows = await runGenerated<ItemRow>(
    handle,
    `select ${FULL_ITEM_COLUMNS} from (${page}) p
     join item_state s on s.item_id = p.item_id join items i on i.id = p.item_id order by ${order}`,
    parameters.values,
  );
  return { rows, total: counted[0]?.total ?? 0 };
}

function orderOf({ tree, ids, sortBy, sortOrder }: ItemPageQuery): string {
  if (tree !== undefined || ids !== undefined) return "cardinality(s.ancestors), s.created_at, s.item_id";
  const direction = sortBy === "createdAt" ? sortOrder : "asc";
  return `${SORT_KEYS[sortBy][sortOrder]}, s.created_at ${direction}, s.item_id ${direction}`;
}

function conditions(query: ItemPageQuery, parameters: Parameters): string {
  const { allTags, tree, ids, tops } = query;
  const all = [...narrowed(query.filter, parameters), stateConditions(query, parameters)];
  if (allTags !== undefined) all.push(`s.tags @> ${parameters.add(allTags, "::text[]")}`);
  if (ids !== undefined) all.push(`s.item_id = any(${parameters.add(ids, "::uuid[]")})`);
  if (tops !== undefined) {
    const seen = parameters.add(tops, "::uuid[]");
    all.push(`s.item_id = any(${seen}) and not s.ancestors && ${seen}`);
  }
  if (tree !== undefined) {
    const top = parameters.add(tree.id, "::uuid");
    const levels = parameters.add(tree.levels, "::int");
    // Where the top stands in an item's path says how far below it the item is.
    all.push(
      `(s.item_id = ${top} or cardinality(s.ancestors) - array_position(s.ancestors, ${top}) + 1 <= ${levels})`,
    );
  }
  return all.join(" and ");
}
