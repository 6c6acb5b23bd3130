/** Writing what items are. Where they stand is written by the world store. */
import { sql } from "kysely";
import type { StartCopies } from "../../services/core/schemas/start-copies.ts";
import type { ItemState } from "../../services/core/state.ts";
import type { Author } from "../../services/core/world.ts";
import { type Handle, statement } from "../statement.ts";
import { authorValues } from "./author-columns.ts";

export interface NewItemRow {
  readonly id: string;
  readonly root_id: string;
  readonly parent_id: string | null;
  readonly ancestors: readonly string[];
  readonly title: string;
  readonly summary: string;
  readonly description: string | null;
  readonly type: string | null;
  readonly tags: readonly string[];
  readonly traits: readonly string[];
  readonly needs: readonly string[];
  readonly assignee: string | null;
  readonly properties: Readonly<Record<string, unknown>> | null;
  readonly metadata: string | null;
  readonly priority: "high" | "medium" | "low";
  readonly complexity: number | null;
  readonly requires_verification: boolean;
  readonly due_at: Date | null;
  readonly status_label: string | null;
  readonly ancestor_blockers: number;
  readonly start_gate_open: boolean;
  readonly resources: StartCopies["resources"];
}

// The items of one call follow each other by a millisecond each: they are ranked by age, and
// ties would be broken by their random ids instead of by the order they were listed in.
const insert = statement<never>(
  "items_insert",
  `with c as (
     select r.*, muster_now() + (r.n - 1) * interval '1 millisecond' as at
     from rows from (jsonb_to_recordset($1::jsonb) as (id uuid, root_id uuid, parent_id uuid, ancestors uuid[],
       title text, summary text, description text, type text, tags text[], traits text[], needs text[],
       assignee text, properties jsonb, metadata text, priority text, complexity smallint,
       requires_verification boolean, due_at timestamptz, status_label text, ancestor_blockers int,
       start_gate_open boolean, resources jsonb)) with ordinality
       as r(id, root_id, parent_id, ancestors, title, summary, description, type, tags, traits, needs, assignee,
         properties, metadata, priority, complexity, requires_verification, due_at, status_label, ancestor_blockers,
         start_gate_open, resources, n)
   ), content as (
     insert into items (id, root_id, parent_id, ancestors, depth, title, summary, description, type, tags, traits,
       needs, assignee, properties, metadata, priority, complexity, requires_verification, due_at, created_at, modified_at,
       created_by, created_actor, created_verification, modified_by, modified_actor, modified_verification)
     select id, root_id, parent_id, ancestors, cardinality(ancestors), title, summary, description, type, tags,
       traits, needs, assignee, properties, metadata, priority, complexity, requires_verification, due_at, at, at,
       $2, $3::jsonb, $4::jsonb, $2, $3::jsonb, $4::jsonb
     from c
   )
   insert into item_state (item_id, status_label, ancestor_blockers, start_gate_open, resources, root_id, parent_id, ancestors, rank, priority,
     complexity, created_at, modified_at, role_changed_at, type, tags, traits, needs, assignee)
   select id, status_label, ancestor_blockers, start_gate_open, resources, root_id, parent_id, ancestors, muster_rank(priority, complexity),
     priority, complexity, at, at, at, type, tags, traits, needs, assignee
   from c`,
);

/** Items and their state rows, all in role queue, in one statement. */
export async function insertItems(handle: Handle, rows: readonly NewItemRow[], by: Author): Promise<void> {
  if (rows.length > 0) await insert(handle, [JSON.stringify(rows), ...authorValues(by)]);
}

export interface ItemPatch {
  readonly title?: string;
  readonly summary?: string;
  readonly description?: string | null;
  readonly type?: string | null;
  readonly tags?: readonly string[];
  readonly traits?: readonly string[];
  readonly needs?: readonly string[];
  readonly assignee?: string | null;
  readonly properties?: Readonly<Record<string, unknown>> | null;
  readonly metadata?: string | null;
  readonly priority?: "high" | "medium" | "low";
  readonly complexity?: number | null;
  readonly requires_verification?: boolean;
  readonly due_at?: Date | null;
}

export interface UpdatedItem {
  readonly version: number;
  readonly modifiedAt: Date;
  readonly requiresVerification: boolean;
}

/**
 * Writes the given columns and no others, so that two edits of different fields both stay.
 * The instant of the last change always moves forward, even when the clock did not.
 */
export async function updateItem(
  handle: Handle,
  id: string,
  patch: ItemPatch,
  by: Author,
): Promise<UpdatedItem | null> {
  const { properties, tags, traits, needs, ...plain } = patch;
  const [agent, actor, verification] = authorValues(by);
  const row = await handle
    .updateTable("items")
    .set({
      ...plain,
      ...(tags === undefined ? {} : { tags: [...tags] }),
      ...(traits === undefined ? {} : { traits: [...traits] }),
      ...(needs === undefined ? {} : { needs: [...needs] }),
      ...(properties === undefined
        ? {}
        : { properties: properties === null ? null : JSON.stringify(properties) }),
      version: sql<number>`version + 1`,
      modified_at: sql<Date>`greatest(muster_now(), modified_at + interval '1 millisecond')`,
      modified_by: agent,
      modified_actor: actor,
      modified_verification: verification,
    })
    .where("id", "=", id)
    .returning(["version", "modified_at", "requires_verification"])
    .executeTakeFirst();
  if (!row) return null;
  return {
    version: row.version,
    modifiedAt: row.modified_at,
    requiresVerification: row.requires_verification,
  };
}

const versionOf = statement<{ version: number }>("items_version", `select version from items where id = $1`);

export async function findVersion(handle: Handle, id: string): Promise<number | null> {
  const [row] = await versionOf(handle, [id]);
  return row?.version ?? null;
}

const place = statement<never>(
  "items_place",
  `update items i set root_id = c.root_id, parent_id = c.parent_id, ancestors = c.ancestors,
     depth = cardinality(c.ancestors)
   from jsonb_to_recordset($1::jsonb) as c(id uuid, root_id uuid, parent_id uuid, ancestors uuid[])
   where i.id = c.id`,
);

/** Writes where items hang; the trigger copies it to their state. */
export async function placeItems(handle: Handle, states: readonly ItemState[]): Promise<void> {
  if (states.length === 0) return;
  await place(handle, [
    JSON.stringify(
      states.map(({ id, rootId, parentId, ancestors }) => ({
        id,
        root_id: rootId,
        parent_id: parentId,
        ancestors,
      })),
    ),
  ]);
}

const subtree = statement<{ id: string }>(
  "items_subtree",
  `select id from items where id = $1 or ancestors @> array[$1::uuid]`,
);

/** The item and everything below it; empty if it does not exist. */
export async function findSubtree(handle: Handle, id: string): Promise<string[]> {
  const rows = await subtree(handle, [id]);
  return rows.map((row) => row.id);
}

const path = statement<{ path: string[] }>(
  "items_path",
  `select ancestors || id as path from items where id = $1`,
);

/** From the root to the item itself. Stands still only while the graph of its root is locked. */
export async function findPath(handle: Handle, id: string): Promise<string[]> {
  const [row] = await path(handle, [id]);
  return row?.path ?? [];
}

const remaining = statement<{ remains: boolean }>(
  "items_remaining_children",
  `select exists (select 1 from items where parent_id = $1 and id <> $2) as remains`,
);

/** True if the parent has a child besides this one. */
export async function hasOtherChildren(handle: Handle, parentId: string, childId: string): Promise<boolean> {
  const [row] = await remaining(handle, [parentId, childId]);
  return row?.remains === true;
}

const remove = statement<never>(
  "items_delete",
  `with tenures as (delete from attempts where item_id = any($1::uuid[])) delete from items where id = any($1::uuid[])`,
);

/** Removes items with their state, tenures and edges. They must be whole subtrees. */
export async function deleteItems(handle: Handle, ids: readonly string[]): Promise<void> {
  await remove(handle, [ids]);
}

const existing = statement<{ id: string }>(
  "items_existing",
  `select id from items where id = any($1::uuid[])`,
);

export async function findExisting(handle: Handle, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await existing(handle, [ids]);
  return new Set(rows.map((row) => row.id));
}

const idsByDepth = statement<{ id: string }>(
  "items_by_depth",
  `select id from items where id = any($1::uuid[]) order by depth desc, id`,
);

/** Deepest first. Those that do not exist are left out. */
export async function orderByDepth(handle: Handle, ids: readonly string[]): Promise<string[]> {
  const rows = await idsByDepth(handle, [ids]);
  return rows.map((row) => row.id);
}

const tenuredAbove = statement<{ item_id: string }>(
  "items_tenured_above",
  `select distinct a.item_id
   from item_state s join attempts a on a.item_id = any(s.ancestors)
   where s.item_id = any($1::uuid[]) and a.agent = $2 and a.session = $3`,
);

/** Ancestors of the items that the session has ever held. */
export async function findTenuredAbove(
  handle: Handle,
  ids: readonly string[],
  agent: string,
  session: string,
): Promise<string[]> {
  const rows = await tenuredAbove(handle, [ids, agent, session]);
  return rows.map((row) => row.item_id);
}

const expired = statement<{ item_id: string; fence: number; ttl_ms: number | null }>(
  "items_expired_claims",
  `select item_id, fence, ttl_ms from item_state
   where item_id = any($1::uuid[]) and agent is not null and expires_at <= muster_now()`,
);

/** Claims whose expiry has passed: ask the claim clock about these. */
export async function findExpiredClaims(
  handle: Handle,
  ids: readonly string[],
): Promise<{ itemId: string; fence: number; ttlMs: number }[]> {
  const rows = await expired(handle, [ids]);
  return rows.map((row) => ({ itemId: row.item_id, fence: row.fence, ttlMs: row.ttl_ms ?? 0 }));
}
