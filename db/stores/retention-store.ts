/**
 * Lets go of old rows, one small batch a transaction. The row of the pass is taken first and
 * passed over when it is taken: two schedulers share the work and never do it twice. A batch
 * looks at a bounded number of rows or pages, whatever the table holds.
 */
import { inTransaction } from "../transaction.ts";
import { type Handle, statement } from "../statement.ts";
import { type Shelf, SHELVES } from "./retention-shelves.ts";

/** Rows or pages that one batch looks at: a few milliseconds' worth. */
const ROWS = 500;
const PAGES = 16;
/** A pass that came to its end rests so long: what has grown old since can wait. */
const REST = "1 hour";

interface Taken {
  readonly position: number;
}

const begin = statement<never>(
  "retention_begin",
  `insert into retention_passes (name) select unnest($1::text[]) on conflict do nothing`,
);

/** Makes the rows of the passes. Needed once in the life of a database; harmless at any time. */
export async function ensurePasses(handle: Handle): Promise<void> {
  await begin(handle, [SHELVES.map((shelf) => shelf.name)]);
}

const due = statement<{ name: string }>(
  "retention_due",
  `select name from retention_passes where finished_at is null or finished_at < muster_now() - interval '${REST}'`,
);

/** Shelves whose rest is over. One statement, so that idle schedulers cost no more. */
export async function dueShelves(handle: Handle): Promise<readonly Shelf[]> {
  const names = new Set((await due(handle, [])).map((row) => row.name));
  return SHELVES.filter((shelf) => names.has(shelf.name));
}

const take = statement<Taken>(
  "retention_take",
  // What is deleted here and forgotten by a crash is deleted again: nobody waits for the disk.
  `select p.position, set_config('synchronous_commit', 'off', true) from retention_passes p
   where p.name = $1 and (p.finished_at is null or p.finished_at < muster_now() - interval '${REST}')
   for update skip locked`,
);

const record = statement<never>(
  "retention_record",
  `update retention_passes set position = $2, deleted = deleted + $3,
     finished_at = case when $4 then muster_now() end
   where name = $1`,
);

export interface BatchReport {
  readonly deleted: number;
  /** The pass is over, or somebody else is at it. */
  readonly finished: boolean;
}

/** The next batch of one shelf. */
export async function clearBatch(db: Handle, shelf: Shelf, hours: number): Promise<BatchReport> {
  return await inTransaction(db, async (tx) => {
    const [taken] = await take(tx, [shelf.name]);
    if (taken === undefined) return { deleted: 0, finished: true };
    const [cleared] = await clearingOf(shelf)(tx, [hours, taken.position]);
    if (cleared === undefined) throw new Error("clearing answered nothing");
    const { deleted, position, finished } = cleared;
    await record(tx, [shelf.name, position, deleted, finished]);
    return { deleted, finished };
  });
}

interface ClearedRow {
  readonly deleted: number;
  readonly position: number;
  readonly finished: boolean;
}

type Clearing = (handle: Handle, parameters: readonly unknown[]) => Promise<ClearedRow[]>;

const clearings = new Map<string, Clearing>();
for (const shelf of SHELVES) {
  clearings.set(
    shelf.name,
    statement<ClearedRow>(`retention_${shelf.name.replace(" ", "_")}`, clearingSql(shelf)),
  );
}

function clearingOf(shelf: Shelf): Clearing {
  const found = clearings.get(shelf.name);
  if (found === undefined) throw new Error(`no shelf is called ${shelf.name}`);
  return found;
}

/** One batch. $1: hours; $2: the position. Answers how many went, and where to go on. */
export function clearingSql(shelf: Shelf): string {
  const { walk } = shelf;
  if (walk.by === "key") return byKey(shelf, walk.key);
  return walk.by === "heap" ? byHeap(shelf) : byAge(shelf, walk.at);
}

/** The next numbers. A young row ends the pass, and the next pass begins with it. */
function byKey({ table, old }: Shelf, key: string): string {
  return `with next as materialized (
      select r.${key} as key, ${old} as old from ${table} r where r.${key} > $2::bigint order by r.${key} limit ${ROWS}
    ), gone as (
      delete from ${table} d where d.${key} = any(array(select n.key from next n
        where n.key < coalesce((select min(y.key) from next y where not y.old), n.key + 1))) returning d.${key} as key
    )
    select (select count(*) from gone)::int as deleted,
      coalesce((select max(key) from gone), $2::bigint)::float8 as position,
      (select count(*) from gone) < ${ROWS} as finished`;
}

/** The next pages. Behind the last one the pass is over, and the next begins with the first. */
function byHeap({ table, old }: Shelf): string {
  return `with pages as materialized (
      select pg_relation_size('${table}') / current_setting('block_size')::int as count
    ), gone as (
      delete from ${table} r
      where r.ctid >= format('(%s,0)', $2::bigint)::tid and r.ctid < format('(%s,0)', $2::bigint + ${PAGES})::tid
        and ${old}
      returning 1
    )
    select (select count(*) from gone)::int as deleted,
      (case when $2::bigint + ${PAGES} >= p.count then 0 else $2::bigint + ${PAGES} end)::float8 as position,
      $2::bigint + ${PAGES} >= p.count as finished
    from pages p`;
}

/** The oldest rows, by the index of their age. */
function byAge({ table, old }: Shelf, at: string): string {
  return `with gone as (
      delete from ${table} d where d.ctid = any(array(
        select r.ctid from ${table} r where ${old} order by r.${at} limit ${ROWS} for update skip locked))
      returning 1
    )
    select (select count(*) from gone)::int as deleted, $2::float8 as position,
      (select count(*) from gone) < ${ROWS} as finished`;
}
