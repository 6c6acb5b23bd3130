/**
 * Brings the items of another database over, with all that hangs on them.
 *
 *   items, a batch at a time and parents first, each with its notes and transitions
 *     -> configurations and plans of projects
 *     -> edges, judged all together
 *     -> project by project: counters and start gates are worked out, and the items are offered
 *
 * Until the last step an item is staged: it waits, so that nobody is offered one whose blockers are
 * not known yet. A run that is cut off is gone on with by the next; an item that was there before is
 * left as it is, with everything that hangs on it, so a second run of the same file changes nothing.
 */
import {
  addConfig,
  addItems,
  addNotes,
  addPlan,
  addTransitions,
  findPlaced,
  type ImportedItem,
  type ImportedNote,
  type ImportedTransition,
} from "../../../db/stores/import-store.ts";
import {
  findRootsBehind,
  findStagedOf,
  findStagedRoots,
  openAboveStaged,
  settleItems,
} from "../../../db/stores/import-settle-store.ts";
import { lockGraph } from "../../../db/stores/graph-lock.ts";
import { recountItems } from "../../../db/stores/recount-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { TREE_DEPTH_MAX } from "../../contract/limits.ts";
import { refreshCopies } from "../config/refresh-copies.ts";
import type { EngineDeps } from "../deps.ts";
import { CLAIMABLE } from "../writing/transact.ts";
import { importEdges } from "./import-edges.ts";
import { ImportLedger, type ImportReport } from "./import-report.ts";
import { readConfigRow, readItemRow, readNoteRow, readPlanRow, readTransitionRow } from "./read-rows.ts";
import { type Fit, shownId, Unfit } from "./read-values.ts";
import type { ImportSource, SourceRow } from "./source.ts";

const NOT_BROUGHT_OVER = ["resource_leases", "resource_lease_history"] as const;
/** Items of one transaction. */
const ITEMS_PER_BATCH = 200;
/** Characters that one statement carries; a single row may be longer. */
const STATEMENT_LENGTH_MAX = 2_000_000;
const GATES_PER_STATEMENT = 1_000;
const OPENED_AGAIN =
  "it was closed with open items below it, and went back to the queue: what is open below a closed item is never offered";

/** What an import works with: no agent is heard, so nothing is judged. */
export type ImportDeps = Pick<EngineDeps, "db" | "coordination" | "schemas" | "settings">;

export async function importGraph(deps: ImportDeps, source: ImportSource): Promise<ImportReport> {
  const ledger = new ImportLedger(source.counts());
  for (const { id, reason } of source.unplacedItems()) leaveOut(source, ledger, id, reason);
  for (const batch of batchesOf(source, ledger)) await importBatch(deps, source, ledger, batch);
  for (const table of ["notes", "role_transitions"] as const)
    for (const { id, reason } of source.orphans(table)) ledger.leftOut(table, shownId(id), reason);
  for (const table of NOT_BROUGHT_OVER)
    ledger.leftOutMany(
      table,
      source.counts().get(table) ?? 0,
      "all",
      "leases end with the claims that they belong to",
    );
  await importDocuments(deps, source, ledger);
  await importEdges(deps, source, ledger);
  await settle(deps, ledger);
  deps.coordination.wakeUps.publish([CLAIMABLE]);
  return ledger.report();
}

/** Reads a row; null if it stays away, which is told. */
function tryRead<T>(
  ledger: ImportLedger,
  table: string,
  row: SourceRow,
  read: (row: SourceRow) => Fit<T>,
): Fit<T> | null {
  try {
    return read(row);
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
    ledger.leftOut(table, shownId(row["id"]), error.message);
    return null;
  }
}

function note(ledger: ImportLedger, table: string, id: string, changes: readonly string[]): void {
  for (const change of changes) ledger.changed(table, id, change);
}

interface Batch {
  readonly items: readonly { readonly raw: unknown; readonly fit: Fit<ImportedItem> }[];
}

/** A batch has one depth, so that the parents of all of it are there when it is written. */
function* batchesOf(source: ImportSource, ledger: ImportLedger): Iterable<Batch> {
  let items: { raw: unknown; fit: Fit<ImportedItem> }[] = [];
  let depth: unknown = 0;
  for (const row of source.items()) {
    if (items.length === ITEMS_PER_BATCH || row["tree_depth"] !== depth) {
      yield { items };
      items = [];
      depth = row["tree_depth"];
    }
    try {
      items.push({ raw: row["id"], fit: readItemRow(row) });
    } catch (error) {
      if (!(error instanceof Unfit)) throw error;
      leaveOut(source, ledger, row["id"], error.message);
    }
  }
  yield { items };
}

/** The item, and what hangs on it. */
function leaveOut(source: ImportSource, ledger: ImportLedger, id: unknown, reason: string): void {
  const shown = shownId(id);
  ledger.leftOut("work_items", shown, reason);
  const hung = `of the item ${shown}, which was left out`;
  ledger.leftOutMany("notes", countOf(source.notesOf(shown)), shown, hung);
  ledger.leftOutMany("role_transitions", countOf(source.transitionsOf(shown)), shown, hung);
}

function countOf(rows: Iterable<unknown>): number {
  let count = 0;
  for (const _ of rows) count += 1;
  return count;
}

async function importBatch(
  deps: ImportDeps,
  source: ImportSource,
  ledger: ImportLedger,
  { items }: Batch,
): Promise<void> {
  if (items.length === 0) return;
  const parents = items.flatMap(({ fit }) => fit.row.parent_id ?? []);
  const placed = await findPlaced(deps.db, [...new Set(parents)]);
  const fitting = items.filter(({ raw, fit }) => {
    const parent = fit.row.parent_id;
    const place = parent === null ? { depth: -1 } : placed.get(parent);
    if (place === undefined) leaveOut(source, ledger, raw, `its parent ${parent} was left out`);
    else if (place.depth + 1 >= TREE_DEPTH_MAX)
      leaveOut(source, ledger, raw, `it would lie deeper than ${TREE_DEPTH_MAX} levels`);
    else return true;
    return false;
  });
  const rows = fitting.map(({ fit }) => fit.row);
  // Told once the transaction is through: it may be run again.
  const told = await inTransaction(deps.db, async (tx) => {
    const part = new ImportLedger(new Map());
    const added = await addItems(tx, rows);
    const fresh = rows.filter((row) => added.has(row.id));
    await writeHung(tx, source, part, fresh);
    return { added, remarks: part.report() };
  });
  for (const { fit } of fitting) {
    const { id, held_by: heldBy } = fit.row;
    if (!told.added.has(id)) {
      ledger.alreadyThere("work_items");
      ledger.alreadyThere("notes", countOf(source.notesOf(id)));
      ledger.alreadyThere("role_transitions", countOf(source.transitionsOf(id)));
      continue;
    }
    ledger.imported("work_items");
    note(ledger, "work_items", id, fit.changes);
    if (heldBy !== null) ledger.released();
  }
  ledger.add(told.remarks);
}

/** Notes and transitions of new items. */
async function writeHung(
  tx: Handle,
  source: ImportSource,
  ledger: ImportLedger,
  items: readonly ImportedItem[],
): Promise<void> {
  const notes = new Pieces<ImportedNote>(async (rows) => {
    const added = await addNotes(tx, rows);
    for (const row of rows) {
      if (added.has(row.id)) ledger.imported("notes");
      else
        ledger.leftOut(
          "notes",
          row.id,
          `the item ${row.item_id} has a note "${row.key}" already, or its id is taken`,
        );
    }
  });
  const moves = new Pieces<ImportedTransition>(async (rows) => {
    await addTransitions(tx, rows);
    ledger.imported("role_transitions", rows.length);
  });
  for (const { id } of items) {
    for (const row of source.notesOf(id)) {
      const fit = tryRead(ledger, "notes", row, readNoteRow);
      if (fit !== null) await notes.add(fit.row);
    }
    for (const row of source.transitionsOf(id)) {
      const fit = tryRead(ledger, "role_transitions", row, readTransitionRow);
      if (fit !== null) await moves.add(fit.row);
    }
  }
  await notes.flush();
  await moves.flush();
}

/** Rows that are written in statements of a bounded length. */
class Pieces<T> {
  readonly #write: (rows: readonly T[]) => Promise<void>;
  #rows: T[] = [];
  #length = 0;

  constructor(write: (rows: readonly T[]) => Promise<void>) {
    this.#write = write;
  }

  async add(row: T): Promise<void> {
    const { length } = JSON.stringify(row);
    if (this.#length + length > STATEMENT_LENGTH_MAX) await this.flush();
    this.#rows.push(row);
    this.#length += length;
  }

  async flush(): Promise<void> {
    if (this.#rows.length === 0) return;
    await this.#write(this.#rows);
    this.#rows = [];
    this.#length = 0;
  }
}

async function importDocuments(deps: ImportDeps, source: ImportSource, ledger: ImportLedger): Promise<void> {
  const isRoot = async (id: string): Promise<boolean> =>
    (await findPlaced(deps.db, [id])).get(id)?.depth === 0;
  const take = async (
    table: string,
    id: string,
    rootId: string,
    add: () => Promise<boolean>,
  ): Promise<boolean> => {
    if (!(await isRoot(rootId)))
      ledger.leftOut(table, id, `its project ${rootId} is no root, or was left out`);
    else if (await add()) {
      ledger.imported(table);
      return true;
    } else ledger.alreadyThere(table);
    return false;
  };
  for (const raw of source.configs()) {
    const fit = tryRead(ledger, "project_config", raw, readConfigRow);
    if (fit === null) continue;
    const { row, changes } = fit;
    const added = await take("project_config", row.root_id, row.root_id, () =>
      inTransaction(deps.db, (tx) => addConfig(tx, row)),
    );
    if (added) note(ledger, "project_config", row.root_id, changes);
  }
  for (const raw of source.plans()) {
    const fit = tryRead(ledger, "plan_documents", raw, readPlanRow);
    if (fit === null) continue;
    const { row, changes } = fit;
    const added = await take("plan_documents", row.id, row.root_id, () =>
      inTransaction(deps.db, (tx) => addPlan(tx, row)),
    );
    if (added) note(ledger, "plan_documents", row.id, changes);
  }
}

/** Works out what the items' states say of their neighbours, and lets them be offered. */
async function settle(deps: ImportDeps, ledger: ImportLedger): Promise<void> {
  const staged = await findStagedRoots(deps.db);
  // All of them before any is counted: what is opened in one project blocks again in another.
  for (const rootId of staged) {
    const opened = await inTransaction(deps.db, async (tx) => {
      await lockGraph(tx, [rootId], "exclusive");
      return await openAboveStaged(tx, rootId);
    });
    for (const id of opened) ledger.changed("work_items", id, OPENED_AGAIN);
  }
  for (const rootId of [...staged, ...(await findRootsBehind(deps.db, staged))]) {
    await inTransaction(deps.db, async (tx) => {
      await lockGraph(tx, [rootId], "exclusive");
      await recountItems(tx, [rootId], deps.settings.onCancelled);
      const items = await findStagedOf(tx, rootId);
      for (let at = 0; at < items.length; at += GATES_PER_STATEMENT)
        await refreshCopies(tx, deps.schemas, items.slice(at, at + GATES_PER_STATEMENT));
      await settleItems(tx, rootId);
    });
  }
}
