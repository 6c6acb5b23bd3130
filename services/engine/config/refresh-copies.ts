/**
 * Brings what offers are filtered by in line with the schemas: after a project changed its
 * text, an item its type, its traits or its project. Rows that already say the right thing are
 * locked and not written.
 */
import {
  type CopiedItem,
  findRootIds,
  lockCopies,
  lockOpenItems,
  writeCopies,
} from "../../../db/stores/start-copies-store.ts";
import { readSetting, settleSetting, writeSetting } from "../../../db/stores/settings-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { startCopies } from "../../core/schemas/start-copies.ts";
import type { EngineDeps } from "../deps.ts";
import type { Schemas, SchemaSource } from "./schema-source.ts";

const PAGE = 1_000;

/** For these items, open or not. */
export async function refreshCopies(
  tx: Handle,
  schemas: SchemaSource,
  itemIds: readonly string[],
): Promise<void> {
  if (itemIds.length === 0) return;
  const items = await lockCopies(tx, itemIds);
  const loaded = await schemas.load(tx, new Set(items.map((item) => item.rootId)));
  await bringInLine(tx, loaded, items);
}

/**
 * The same by schemas that are loaded already.
 * @returns the items whose start gate is open now and was not
 */
export async function refreshCopiesBy(
  tx: Handle,
  schemas: Schemas,
  itemIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (itemIds.length === 0) return new Set();
  const items = await lockCopies(tx, itemIds);
  const changed = await bringInLine(tx, schemas, items);
  const closed = new Set(items.filter((item) => !item.copies.startGateOpen).map((item) => item.id));
  return new Set(
    changed.filter(({ id, copies }) => copies.startGateOpen && closed.has(id)).map(({ id }) => id),
  );
}

/** For every open item of a project. */
export async function refreshRoot(tx: Handle, schemas: SchemaSource, rootId: string): Promise<void> {
  const loaded = await schemas.load(tx, [rootId]);
  for (let after: string | null = null; ;) {
    const items: CopiedItem[] = await lockOpenItems(tx, rootId, after, PAGE);
    await bringInLine(tx, loaded, items);
    const last = items.at(-1);
    if (last === undefined || items.length < PAGE) return;
    after = last.id;
  }
}

async function bringInLine(
  tx: Handle,
  schemas: Schemas,
  items: readonly CopiedItem[],
): Promise<readonly Pick<CopiedItem, "id" | "copies">[]> {
  const changed = items.flatMap((item) => {
    const copies = startCopies(schemas.of(item), item.filled);
    return JSON.stringify(copies) === JSON.stringify(inOrder(item.copies)) ? [] : [{ id: item.id, copies }];
  });
  await writeCopies(tx, changed);
  return changed;
}

/** As {@link startCopies} writes it: the database keeps the keys of an object in an order of its own. */
function inOrder({ startGateOpen, resources, reviewExcludes }: CopiedItem["copies"]): CopiedItem["copies"] {
  return {
    startGateOpen,
    resources: resources?.map(({ key, mode, capacity }) => ({ key, mode, capacity })) ?? null,
    reviewExcludes,
  };
}

const SETTING = "server_config";
/** Followed by a server without a file. */
const NO_FILE = "none";

/** The fingerprint of the file that the latest server to start, or to see its own change, has. */
export async function followedServerConfig(handle: Handle): Promise<string | null> {
  const followed = await readSetting(handle, SETTING);
  return followed === NO_FILE ? null : followed;
}

/**
 * After the server's own file changed: all projects, one after the other. Which file the copies
 * follow is remembered, so that a start with the same file has nothing to do.
 */
export async function followServerConfig(
  deps: Pick<EngineDeps, "db" | "schemas">,
  fingerprint: string | null,
): Promise<boolean> {
  const now = fingerprint ?? NO_FILE;
  if ((await settleSetting(deps.db, SETTING, NO_FILE)) === now) return false;
  for (let after: string | null = null; ;) {
    const roots: string[] = await findRootIds(deps.db, after, PAGE);
    for (const rootId of roots) await inTransaction(deps.db, (tx) => refreshRoot(tx, deps.schemas, rootId));
    const last = roots.at(-1);
    if (last === undefined || roots.length < PAGE) break;
    after = last;
  }
  await writeSetting(deps.db, SETTING, now);
  return true;
}
