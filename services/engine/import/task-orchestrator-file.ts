/**
 * A database of task-orchestrator, opened for reading alone. All of it is read in one transaction, so
 * that a server which still writes to it cannot give half of a change.
 */
import { existsSync } from "node:fs";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { ImportSource, SourceRow, Unplaced } from "./source.ts";

/** The version of its tables, as its migrations count. */
const SCHEMA_VERSION = "16";
const TABLES = [
  "work_items",
  "notes",
  "dependencies",
  "role_transitions",
  "project_config",
  "plan_documents",
  "resource_leases",
  "resource_lease_history",
] as const;

/** A deeper tree is not read further; the target says how deep one may be. */
const DEPTH_READ = 100;

const TREE = `with recursive tree(id, depth) as (
    select id, 0 from work_items where parent_id is null
    union all
    select w.id, t.depth + 1 from tree t join work_items w on w.parent_id = t.id where t.depth < ${DEPTH_READ}
  )`;

/** Nothing of the file can be imported; the message says why. */
export class UnfitFile extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "UnfitFile";
  }
}

export interface TaskOrchestratorFile extends ImportSource {
  close(): void;
}

/** @throws UnfitFile for a file that is none of its databases, or one of another version. */
export function openTaskOrchestratorFile(path: string): TaskOrchestratorFile {
  if (!existsSync(path)) throw new UnfitFile(`There is no file ${path}.`);
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    database.exec("begin");
    refuseOthers(database, path);
  } catch (error) {
    database.close();
    throw isNoDatabase(error) ? new UnfitFile(`${path} is no SQLite database.`, { cause: error }) : error;
  }
  return fileOf(database);
}

function isNoDatabase(error: unknown): boolean {
  return error instanceof Error && /not a database/i.test(error.message);
}

function refuseOthers(database: DatabaseSync, path: string): void {
  const known = new Set(
    database
      .prepare("select name from sqlite_master where type = 'table'")
      .all()
      .map(({ name }) => name),
  );
  if (!known.has("flyway_schema_history") || !known.has("work_items")) {
    throw new UnfitFile(
      `${path} is no database of task-orchestrator 3: it has no table ${known.has("work_items") ? "flyway_schema_history" : "work_items"}.`,
    );
  }
  const [latest] = database
    .prepare(
      `select version, description, success from flyway_schema_history where version is not null
       order by cast(version as real) desc, installed_rank desc limit 1`,
    )
    .all();
  const version = typeof latest?.["version"] === "string" ? latest["version"] : "none";
  if (version !== SCHEMA_VERSION || Number(latest?.["success"] ?? 0) !== 1) {
    const named = typeof latest?.["description"] === "string" ? ` (${latest["description"]})` : "";
    const state = version === SCHEMA_VERSION ? ", whose last migration failed" : "";
    throw new UnfitFile(
      `${path} has the tables of version ${version}${named}${state}; those of version ${SCHEMA_VERSION} can be imported. ` +
        "Start the task-orchestrator that belongs to it once, in its latest 3.x release, to bring it up to date.",
    );
  }
  const missing = TABLES.filter((table) => !known.has(table));
  if (missing.length > 0) throw new UnfitFile(`${path} has no table ${missing.join(", ")}.`);
}

function fileOf(database: DatabaseSync): TaskOrchestratorFile {
  const rows = (text: string, ...values: SQLInputValue[]): Iterable<SourceRow> =>
    database.prepare(text).iterate(...values);
  const unplaced = (text: string): Iterable<Unplaced> => rows(text) as Iterable<SourceRow & Unplaced>;
  return {
    counts: () =>
      new Map(
        TABLES.map((table) => {
          const [row] = database.prepare(`select count(*) as n from ${table}`).all();
          return [table, Number(row?.["n"] ?? 0)];
        }),
      ),
    items: () =>
      rows(
        `${TREE}, ends as (
           select item_id, "trigger", row_number() over (partition by item_id order by transitioned_at desc, rowid desc) as n
           from role_transitions where to_role = 'terminal'
         )
         select w.*, t.depth as tree_depth, e."trigger" as ended_by
         from tree t join work_items w on w.id = t.id left join ends e on e.item_id = w.id and e.n = 1
         order by t.depth, w.created_at, w.id`,
      ),
    unplacedItems: () =>
      unplaced(
        `${TREE}
         select w.id, case
             when not exists (select 1 from work_items p where p.id = w.parent_id) then 'its parent does not exist'
             else 'its ancestors do not begin at a root: one is missing, they run in a circle, or there are too many'
           end as reason
         from work_items w where w.id not in (select id from tree)`,
      ),
    notesOf: (itemId) =>
      ofItem(rows, "select * from notes where work_item_id = ? order by created_at, rowid", itemId),
    transitionsOf: (itemId) =>
      ofItem(
        rows,
        "select * from role_transitions where item_id = ? order by transitioned_at, rowid",
        itemId,
      ),
    dependencies: () => rows("select * from dependencies order by created_at, rowid"),
    configs: () => rows("select * from project_config order by rowid"),
    plans: () => rows("select * from plan_documents order by rowid"),
    orphans: (table) => {
      const column = table === "notes" ? "work_item_id" : "item_id";
      return unplaced(
        `select id, 'its item does not exist' as reason from ${table}
         where ${column} is null or ${column} not in (select id from work_items)`,
      );
    },
    close: () => database.close(),
  };
}

function ofItem(
  rows: (text: string, ...values: SQLInputValue[]) => Iterable<SourceRow>,
  text: string,
  itemId: string,
): Iterable<SourceRow> {
  const hex = itemId.replace(/^0x/, "").replaceAll("-", "");
  return /^[0-9a-f]*$/.test(hex) ? rows(text, Buffer.from(hex, "hex")) : [];
}
