/** Edges as rows: finding, drawing and removing them. */
import type { Author } from "../../services/core/world.ts";
import { type Handle, statement } from "../statement.ts";
import { authorValues } from "./author-columns.ts";

export interface DependencyRow {
  readonly id: string;
  readonly from_item: string;
  readonly to_item: string;
  readonly type: "BLOCKS" | "RELATES_TO";
  readonly unblock_at: "queue" | "work" | "review" | "terminal" | null;
  readonly on_cancelled: "hold" | "release" | null;
}

const COLUMNS = "d.id, d.from_item, d.to_item, d.type, d.unblock_at, d.on_cancelled";

const insert = statement<never>(
  "dependencies_insert",
  `insert into dependencies (id, from_item, to_item, type, unblock_at, on_cancelled, created_by, created_actor,
     created_verification)
   select c.id, c.from_item, c.to_item, c.type, c.unblock_at, c.on_cancelled, $2, $3::jsonb, $4::jsonb
   from jsonb_to_recordset($1::jsonb) as c(id uuid, from_item uuid, to_item uuid, type text, unblock_at text,
     on_cancelled text)`,
);

export async function insertDependencies(
  handle: Handle,
  rows: readonly DependencyRow[],
  by: Author,
): Promise<void> {
  if (rows.length > 0) await insert(handle, [JSON.stringify(rows), ...authorValues(by)]);
}

const remove = statement<never>("dependencies_delete", `delete from dependencies where id = any($1::uuid[])`);

export async function deleteDependencies(handle: Handle, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await remove(handle, [ids]);
}

const byId = statement<DependencyRow>(
  "dependencies_by_id",
  `select ${COLUMNS} from dependencies d where d.id = any($1::uuid[])`,
);

export async function findDependenciesById(handle: Handle, ids: readonly string[]): Promise<DependencyRow[]> {
  return ids.length === 0 ? [] : await byId(handle, [ids]);
}

// A relation has no direction, so it is found from either end.
const ofPair = statement<DependencyRow>(
  "dependencies_of_pair",
  `select ${COLUMNS} from dependencies d
   where ($3::text is null or d.type = $3)
     and ((d.from_item = $1 and d.to_item = $2) or (d.from_item = $2 and d.to_item = $1 and d.type = 'RELATES_TO'))`,
);

const fromSide = statement<DependencyRow>(
  "dependencies_from",
  `select ${COLUMNS} from dependencies d where d.from_item = $1 and ($2::text is null or d.type = $2)`,
);

const toSide = statement<DependencyRow>(
  "dependencies_into",
  `select ${COLUMNS} from dependencies d where d.to_item = $1 and ($2::text is null or d.type = $2)`,
);

/** Edges by their ends: both, or all of one side. */
export interface Ends {
  readonly from: string | null;
  readonly to: string | null;
  readonly type: DependencyRow["type"] | null;
}

export async function findDependenciesByEnds(handle: Handle, ends: Ends): Promise<DependencyRow[]> {
  const { from, to, type } = ends;
  if (from !== null && to !== null) return await ofPair(handle, [from, to, type]);
  if (from !== null) return await fromSide(handle, [from, type]);
  return to === null ? [] : await toSide(handle, [to, type]);
}

const among = statement<Pick<DependencyRow, "from_item" | "to_item" | "type">>(
  "dependencies_among",
  `select d.from_item, d.to_item, d.type from dependencies d
   where d.from_item = any($1::uuid[]) and d.to_item = any($1::uuid[])`,
);

/** Every edge whose two ends are among the items. */
export async function findDependenciesAmong(
  handle: Handle,
  items: readonly string[],
): Promise<Pick<DependencyRow, "from_item" | "to_item" | "type">[]> {
  return await among(handle, [items]);
}

const counts = statement<{ id: string; edges: number }>(
  "dependencies_count",
  `select c.id,
     ((select count(*) from dependencies d where d.from_item = c.id)
      + (select count(*) from dependencies d where d.to_item = c.id))::int as edges
   from unnest($1::uuid[]) as c(id)`,
);

/** How many edges each item has, in either direction. */
export async function countDependencies(
  handle: Handle,
  items: readonly string[],
): Promise<Map<string, number>> {
  const rows = await counts(handle, [items]);
  return new Map(rows.map((row) => [row.id, row.edges]));
}

const parents = statement<{ id: string }>(
  "items_with_children",
  `select c.id from unnest($1::uuid[]) as c(id) where exists (select 1 from items i where i.parent_id = c.id)`,
);

/** Those of the items that have children, open or not. */
export async function findParents(handle: Handle, items: readonly string[]): Promise<Set<string>> {
  if (items.length === 0) return new Set();
  const rows = await parents(handle, [items]);
  return new Set(rows.map((row) => row.id));
}

const containersHeldUp = statement<{ to_item: string }>(
  "dependencies_containers_held_up",
  `select distinct d.to_item from dependencies d
   where d.from_item = any($1::uuid[]) and d.type = 'BLOCKS'
     and exists (select 1 from items i where i.parent_id = d.to_item)`,
);

/** Items with children that one of the items blocks: their subtrees change with them. */
export async function findContainersHeldUp(handle: Handle, items: readonly string[]): Promise<string[]> {
  const rows = await containersHeldUp(handle, [items]);
  return rows.map((row) => row.to_item);
}
