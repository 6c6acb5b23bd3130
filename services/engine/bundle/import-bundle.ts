/**
 * Brings a root in that `muster export` wrote out. Everything of it or nothing: one transaction.
 * What is there already stays as it is, so doing it again changes nothing.
 */
import {
  type BundledRow,
  BUNDLED_TABLES,
  insertBundled,
  releaseImported,
} from "../../../db/stores/bundle-store.ts";
import { recountItems } from "../../../db/stores/recount-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { refreshRoot } from "../config/refresh-copies.ts";
import { lockGraphsOf } from "../dependencies/order-graph.ts";
import type { EngineDeps } from "../deps.ts";
import { CLAIMABLE } from "../writing/transact.ts";
import { type Bundle, UnfitBundle } from "../../contract/root-bundle.ts";

const BATCH = 500;

export interface BundleReport {
  readonly rootId: string;
  readonly tables: Readonly<Record<string, { readonly found: number; readonly imported: number }>>;
  /** Claims do not travel. */
  readonly claimsReleased: number;
}

/** @throws UnfitBundle if a row does not fit this database */
export async function importBundle(deps: EngineDeps, bundle: Bundle): Promise<BundleReport> {
  const unknown = [...bundle.rows.keys()].filter((table) => !BUNDLED_TABLES.includes(table));
  if (unknown.length > 0)
    throw new UnfitBundle(`it has rows of ${unknown.join(", ")}, which this version does not know`);
  const report = await inTransaction(deps.db, (tx) => bringIn(deps, tx, bundle));
  deps.coordination.wakeUps.publish([CLAIMABLE]);
  return report;
}

async function bringIn(deps: EngineDeps, tx: Handle, { rootId, rows }: Bundle): Promise<BundleReport> {
  await lockGraphsOf(tx, new Set([rootId]), []);
  const items = rows.get("items") ?? [];
  const came = new Set(await insertAll(tx, "items", items, null));
  const tables: Record<string, { found: number; imported: number }> = {
    items: { found: items.length, imported: came.size },
  };
  for (const table of BUNDLED_TABLES.slice(1)) {
    const found = rows.get(table) ?? [];
    tables[table] = { found: found.length, imported: (await insertAll(tx, table, found, came)).length };
  }
  const claimsReleased = came.size === 0 ? 0 : await releaseImported(tx, [...came]);
  if (came.size > 0) {
    // Ends of edges that stayed away, and schemas of another server file.
    await recountItems(tx, [rootId], deps.settings.onCancelled);
    await refreshRoot(tx, deps.schemas, rootId);
  }
  return { rootId, tables, claimsReleased };
}

async function insertAll(
  tx: Handle,
  table: string,
  rows: readonly BundledRow[],
  fresh: ReadonlySet<string> | null,
): Promise<string[]> {
  const ids: string[] = [];
  for (let start = 0; start < rows.length; start += BATCH) {
    ids.push(...(await insertBundled(tx, table, rows.slice(start, start + BATCH), fresh)).ids);
  }
  return ids;
}
