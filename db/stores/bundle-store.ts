/**
 * Everything that belongs to a root, row by row, out of one database and into another. Columns
 * are those of the database itself, without what it generates: a column that a migration adds
 * travels without being named here.
 */
import { CompiledQuery } from "kysely";
import type { Handle } from "../statement.ts";

interface BundledTable {
  readonly name: string;
  /** Which rows belong to the root $1. */
  readonly of: string;
  readonly order: string;
  /** Columns whose item must have come with this import for the row to come too. */
  readonly items: readonly string[];
}

const INSIDE = "in (select i.id from items i where i.root_id = $1)";

/** In the order in which rows can be inserted. */
const TABLES: readonly BundledTable[] = [
  { name: "items", of: "t.root_id = $1", order: "t.depth, t.created_at, t.id", items: ["id"] },
  { name: "item_state", of: "t.root_id = $1", order: "t.item_id", items: ["item_id"] },
  { name: "project_configs", of: "t.root_id = $1", order: "t.root_id", items: ["root_id"] },
  { name: "plan_documents", of: "t.root_id = $1", order: "t.slug", items: ["root_id"] },
  { name: "notes", of: `t.item_id ${INSIDE}`, order: "t.item_id, t.key", items: ["item_id"] },
  {
    name: "note_versions",
    of: `t.item_id ${INSIDE}`,
    order: "t.item_id, t.key, t.version",
    items: ["item_id"],
  },
  { name: "item_versions", of: `t.item_id ${INSIDE}`, order: "t.item_id, t.version", items: ["item_id"] },
  {
    name: "dependencies",
    of: `(t.from_item ${INSIDE} or t.to_item ${INSIDE})`,
    order: "t.created_at, t.id",
    items: ["from_item", "to_item"],
  },
  { name: "attempts", of: `t.item_id ${INSIDE}`, order: "t.item_id, t.fence", items: ["item_id"] },
  { name: "transitions", of: "t.root_id = $1", order: "t.at, t.id", items: ["item_id"] },
];

export const BUNDLED_TABLES: readonly string[] = TABLES.map(({ name }) => name);

/** What a database makes by itself, and what means something there alone. */
const LOCAL: Readonly<Record<string, readonly string[]>> = { transitions: ["id"], attempts: ["ended_xid"] };

export type BundledRow = Readonly<Record<string, unknown>>;

async function columnsOf(handle: Handle, table: string): Promise<string[]> {
  const { rows } = await handle.executeQuery<{ column_name: string }>(
    CompiledQuery.raw(
      `select column_name::text from information_schema.columns
       where table_schema = current_schema() and table_name = $1 and is_generated = 'NEVER'
       order by ordinal_position`,
      [table],
    ),
  );
  const local = LOCAL[table] ?? [];
  return rows.map((row) => row.column_name).filter((name) => !local.includes(name));
}

/** A page of the rows of one table, in an order that stays. */
export async function readBundled(
  handle: Handle,
  table: string,
  rootId: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<BundledRow[]> {
  const { of, order } = tableOf(table);
  const columns = await columnsOf(handle, table);
  const { rows } = await handle.executeQuery<{ row: BundledRow }>(
    CompiledQuery.raw(
      `select to_jsonb(r) as row from (
         select ${columns.map((name) => `t.${name}`).join(", ")} from ${table} t where ${of}
         order by ${order} limit $2 offset $3) r`,
      [rootId, limit, offset],
    ),
  );
  return rows.map(({ row }) => row);
}

export interface Inserted {
  /** How many of the rows came. */
  readonly count: number;
  /** Of `items`: the ids that came. */
  readonly ids: readonly string[];
}

/**
 * Inserts what is not there. Rows of items that were there before stay away, whatever they say:
 * what is there already is never changed.
 * @param fresh ids of the items that came with this import; null while the items themselves come
 */
export async function insertBundled(
  handle: Handle,
  table: string,
  rows: readonly BundledRow[],
  fresh: ReadonlySet<string> | null,
): Promise<Inserted> {
  const { items } = tableOf(table);
  const coming = rows.filter(
    (row) => fresh === null || items.some((column) => fresh.has(String(row[column]))),
  );
  if (coming.length === 0) return { count: 0, ids: [] };
  const columns = await columnsOf(handle, table);
  const ends =
    table === "dependencies"
      ? `where exists (select 1 from items i where i.id = r.from_item)
    and exists (select 1 from items i where i.id = r.to_item)`
      : "";
  const { rows: inserted } = await handle.executeQuery<{ id: string }>(
    CompiledQuery.raw(
      `insert into ${table} (${columns.join(", ")})
       select ${columns.map((name) => `r.${name}`).join(", ")}
       from jsonb_populate_recordset(null::${table}, $1::jsonb) r ${ends}
       on conflict do nothing
       returning ${items[0] ?? "1"} as id`,
      [JSON.stringify(coming)],
    ),
  );
  return { count: inserted.length, ids: inserted.map(({ id }) => id) };
}

function tableOf(name: string): BundledTable {
  const found = TABLES.find((table) => table.name === name);
  if (found === undefined) throw new Error(`${name} is not part of a bundle`);
  return found;
}

/** Claims do not travel: a claim lives where its holder's heartbeats go. Answers how many were held. */
export async function releaseImported(handle: Handle, itemIds: readonly string[]): Promise<number> {
  const { rows } = await handle.executeQuery<{ held: number }>(
    CompiledQuery.raw(
      `with ended as (
         update attempts a set ended_at = greatest(muster_now(), a.claimed_at), end_reason = 'released',
           detail = 'imported into another database'
         from item_state s where s.item_id = any($1::uuid[]) and a.item_id = s.item_id and a.ended_at is null
         returning 1
       ), released as (
         update item_state s set agent = null, session = null, fence = s.fence + 1, claimed_at = null,
           original_claimed_at = null, expires_at = null, ttl_ms = null
         where s.item_id = any($1::uuid[]) and s.agent is not null
         returning 1
       ), loosened as (
         update item_state s set leased = null, lost_leases = null
         where s.item_id = any($1::uuid[]) and s.agent is null and (s.leased is not null or s.lost_leases is not null)
         returning 1
       )
       select count(*)::int as held from released`,
      [itemIds],
    ),
  );
  return rows[0]?.held ?? 0;
}
