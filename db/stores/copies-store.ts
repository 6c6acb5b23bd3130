/**
 * The copies that `item_state` keeps of what selectors filter and rank by. A trigger keeps them
 * equal; whoever writes past it, or disables it for a bulk load, leaves items that are offered
 * to the wrong agents.
 */
import { type Handle, statement } from "../statement.ts";

const COPIES =
  "root_id, parent_id, ancestors, priority, complexity, type, tags, traits, needs, assignee, created_at"
    .split(", ")
    .map((column) => [`s.${column}`, `i.${column}`] as const);

const DIFFERS = `(s.rank, ${COPIES.map(([copy]) => copy).join(", ")}) is distinct from
  (muster_rank(i.priority, i.complexity), ${COPIES.map(([, original]) => original).join(", ")})`;

const find = statement<{ item_id: string }>(
  "copies_find_changed",
  `select s.item_id from item_state s join items i on i.id = s.item_id where ${DIFFERS} order by s.item_id limit $1`,
);

/** Items whose copies say something else than they do, at most so many. Reads every row of both tables. */
export async function findChangedCopies(handle: Handle, limit: number): Promise<string[]> {
  return (await find(handle, [limit])).map((row) => row.item_id);
}

const lock = statement<never>(
  "copies_lock",
  `select 1 from item_state s where s.item_id = any($1::uuid[]) order by s.item_id for no key update of s`,
);

const repair = statement<{ item_id: string }>(
  "copies_repair",
  `update item_state s set rank = muster_rank(i.priority, i.complexity),
     ${COPIES.map(([copy, original]) => `${copy.slice(2)} = ${original}`).join(", ")}
   from items i where i.id = s.item_id and s.item_id = any($1::uuid[]) and ${DIFFERS}
   returning s.item_id`,
);

/**
 * Writes the copies of these items anew. Needs a transaction: whoever changes an item has its state
 * row locked, so what is read after the lock is what stays.
 */
export async function repairCopies(handle: Handle, ids: readonly string[]): Promise<number> {
  await lock(handle, [ids]);
  return (await repair(handle, [ids])).length;
}
