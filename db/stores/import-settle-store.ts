/** The end of an import: what is staged gets its right place and is offered. */
import { type Handle, statement } from "../statement.ts";
import { STAGED } from "./import-store.ts";

const stagedRoots = statement<{ root_id: string }>(
  "import_staged_roots",
  `select distinct root_id from item_state where available_at = ${STAGED} order by root_id`,
);

/** Projects with items whose import is not over. */
export async function findStagedRoots(handle: Handle): Promise<string[]> {
  return (await stagedRoots(handle, [])).map((row) => row.root_id);
}

const stagedOf = statement<{ item_id: string }>(
  "import_staged_of",
  `select item_id from item_state where root_id = $1 and available_at = ${STAGED} order by item_id`,
);

export async function findStagedOf(handle: Handle, rootId: string): Promise<string[]> {
  return (await stagedOf(handle, [rootId])).map((row) => row.item_id);
}

const openAbove = statement<{ item_id: string }>(
  "import_open_above",
  `with opened as (
     update item_state s set role = 'queue', outcome = null, status_label = null, close_withheld = false
     where s.root_id = $1 and s.role = 'terminal' and s.item_id in (
       select unnest(c.ancestors) from item_state c
       where c.root_id = $1 and c.available_at = ${STAGED} and c.role <> 'terminal')
     returning s.item_id, s.root_id
   ), told as (
     insert into transitions (item_id, root_id, from_role, to_role, trigger, summary)
     select item_id, root_id, 'terminal', 'queue', 'import', 'items below it are open' from opened
   )
   select item_id from opened order by item_id`,
);

/**
 * Opens what is closed above open items that are staged: there such a child waits for ever, since
 * nobody is offered it and nothing closes above it again. Answers what it opened.
 */
export async function openAboveStaged(handle: Handle, rootId: string): Promise<string[]> {
  return (await openAbove(handle, [rootId])).map((row) => row.item_id);
}

const rootsBehind = statement<{ root_id: string }>(
  "import_roots_behind",
  `select distinct w.root_id from item_state s
   join dependencies d on d.from_item = s.item_id and d.type = 'BLOCKS'
   join item_state w on w.item_id = d.to_item
   where s.root_id = any($1::uuid[]) and w.root_id <> all($1::uuid[]) order by w.root_id`,
);

/** Other projects with items that wait for items of these. */
export async function findRootsBehind(handle: Handle, rootIds: readonly string[]): Promise<string[]> {
  return rootIds.length === 0 ? [] : (await rootsBehind(handle, [rootIds])).map((row) => row.root_id);
}

const unstage = statement<never>(
  "import_unstage",
  `with ready as (
     update item_state set available_at = null where root_id = $1 and available_at = ${STAGED} returning item_id
   )
   insert into events (type, item_id, root_id, data)
   select 'project.imported', $1, $1, jsonb_build_object('items', count(*)) from ready having count(*) > 0`,
);

/**
 * From now on the items are offered like any others. One event tells it of all of them: whoever
 * follows a project reads it anew, and an event for each of 100,000 would drown everything else.
 */
export async function settleItems(handle: Handle, rootId: string): Promise<void> {
  await unstage(handle, [rootId]);
}
