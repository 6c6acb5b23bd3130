/**
 * What a delete removed, row by row, so that it can be brought back. The lists of columns
 * are spelled out: a column that a later migration generates cannot be inserted, and one
 * that it adds has to be thought about here.
 */
import type { Author } from "../../services/core/world.ts";
import { type Handle, statement } from "../statement.ts";
import { restoreTexts, TRASHED_TEXTS } from "./trash-text-store.ts";
import { authorValues } from "./author-columns.ts";

const insert = statement<{ expires_at: Date }>(
  "trash_insert",
  `insert into trash (id, item_id, root_id, title, items_count, deleted_by, deleted_actor, deleted_verification,
     deleted_at, expires_at, snapshot)
   select $1, i.id, i.root_id, i.title, cardinality($3::uuid[]), $5, $6::jsonb, $7::jsonb, muster_now(),
     muster_now() + make_interval(days => $4),
     jsonb_build_object(
       'items', (select jsonb_agg(to_jsonb(x) order by x.depth, x.id) from items x where x.id = any($3)),
       'states', (select jsonb_agg(to_jsonb(s) order by s.item_id) from item_state s where s.item_id = any($3)),
       'configs', (select coalesce(jsonb_agg(to_jsonb(p)), '[]') from project_configs p where p.root_id = any($3)),
       'attempts', (select coalesce(jsonb_agg(to_jsonb(a) order by a.item_id, a.fence), '[]')
         from attempts a where a.item_id = any($3)),
       'dependencies', (select coalesce(jsonb_agg(to_jsonb(d) order by d.created_at, d.id), '[]')
         from dependencies d where d.from_item = any($3) or d.to_item = any($3)),
       ${TRASHED_TEXTS})
   from items i where i.id = $2
   returning expires_at`,
);

export interface ThrownAway {
  readonly trashId: string;
  readonly itemId: string;
  /** The item and everything below it. */
  readonly subtree: readonly string[];
  readonly by: Author;
  readonly days: number;
}

/** Keeps a copy of everything that deleting the subtree removes. Answers until when. */
export async function keepInTrash(handle: Handle, thrown: ThrownAway): Promise<Date> {
  const { trashId, itemId, subtree, days, by } = thrown;
  const [row] = await insert(handle, [trashId, itemId, subtree, days, ...authorValues(by)]);
  if (!row) throw new Error("an item that does not exist cannot be kept");
  return row.expires_at;
}

interface TrashRow {
  id: string;
  item_id: string;
  restored: boolean;
  expired: boolean;
  parent_id: string | null;
  depth: number;
  height: number;
  items: string[];
}

const find = statement<TrashRow>(
  "trash_find",
  `select t.id, t.item_id, t.restored_at is not null as restored, t.expires_at <= muster_now() as expired,
     (t.snapshot #>> '{items,0,parent_id}')::uuid as parent_id,
     (t.snapshot #>> '{items,0,depth}')::int as depth,
     (select max((x ->> 'depth')::int) from jsonb_array_elements(t.snapshot -> 'items') x)
       - (t.snapshot #>> '{items,0,depth}')::int as height,
     array(select (x ->> 'id')::uuid from jsonb_array_elements(t.snapshot -> 'items') x) as items
   from trash t where t.id = $1
   for update of t`,
);

export interface TrashEntry {
  readonly id: string;
  readonly itemId: string;
  readonly restored: boolean;
  readonly expired: boolean;
  readonly parentId: string | null;
  readonly depth: number;
  /** Levels below the item. */
  readonly height: number;
  readonly items: readonly string[];
}

/** Locks the entry: two restores of it must not both find it unused. */
export async function lockTrash(handle: Handle, trashId: string): Promise<TrashEntry | null> {
  const [row] = await find(handle, [trashId]);
  if (!row) return null;
  return {
    id: row.id,
    itemId: row.item_id,
    restored: row.restored,
    expired: row.expired,
    parentId: row.parent_id,
    depth: row.depth,
    height: row.height,
    items: row.items,
  };
}

const latest = statement<{ id: string }>(
  "trash_latest",
  `select id from trash where item_id = $1 order by restored_at is not null, deleted_at desc, id limit 1`,
);

/** The entry that the item's latest delete left, one that was not restored first. */
export async function findLatestTrash(handle: Handle, itemId: string): Promise<string | null> {
  const [row] = await latest(handle, [itemId]);
  return row?.id ?? null;
}

const edges = statement<{
  id: string;
  from_item: string;
  to_item: string;
  type: "BLOCKS" | "RELATES_TO";
  unblock_at: "queue" | "work" | "review" | "terminal" | null;
  on_cancelled: "hold" | "release" | null;
}>(
  "trash_edges",
  `select d.id, d.from_item, d.to_item, d.type, d.unblock_at, d.on_cancelled
   from trash t, jsonb_populate_recordset(null::dependencies, t.snapshot -> 'dependencies') d
   where t.id = $1 order by d.created_at, d.id`,
);

export async function findTrashedEdges(handle: Handle, trashId: string): ReturnType<typeof edges> {
  return await edges(handle, [trashId]);
}

// $2: ancestors of the restored item as they are now; $3: how many it had.
const restoreItems = statement<never>(
  "trash_restore_items",
  `insert into items (id, root_id, parent_id, ancestors, depth, title, summary, description, type, tags, traits, needs,
     assignee, properties, metadata, priority, complexity, requires_verification, due_at, version, created_at, modified_at,
     created_by, created_actor, created_verification, modified_by, modified_actor, modified_verification)
   select r.id, coalesce(($2::uuid[])[1], t.item_id), r.parent_id, $2::uuid[] || r.ancestors[$3::int + 1:],
     cardinality($2::uuid[]) + r.depth - $3::int, r.title, r.summary, r.description, r.type, r.tags, r.traits, r.needs,
     r.assignee, r.properties, r.metadata, r.priority, r.complexity, r.requires_verification, r.due_at, r.version + 1,
     r.created_at, greatest(muster_now(), r.modified_at), r.created_by, r.created_actor, r.created_verification,
     r.modified_by, r.modified_actor, r.modified_verification
   from trash t, jsonb_populate_recordset(null::items, t.snapshot -> 'items') r
   where t.id = $1`,
);

// Nobody holds what comes back, and the fence is higher than any that was ever given out.
const restoreStates = statement<never>(
  "trash_restore_states",
  `insert into item_state (item_id, role, previous_role, outcome, status_label, blockers, ancestor_blockers,
     open_children, done_children, close_withheld, available_at, attempts, dead, start_gate_open, fence, root_id,
     parent_id, ancestors, rank, priority, complexity, created_at, modified_at, role_changed_at, type, tags,
     traits, needs, assignee)
   select r.item_id, r.role, r.previous_role, r.outcome, r.status_label, 0, 0, r.open_children, r.done_children,
     r.close_withheld, r.available_at, r.attempts, r.dead, r.start_gate_open, r.fence + 1, i.root_id, i.parent_id,
     i.ancestors, r.rank, i.priority, i.complexity, i.created_at, i.modified_at, r.role_changed_at, i.type, i.tags,
     i.traits, i.needs, i.assignee
   from trash t, jsonb_populate_recordset(null::item_state, t.snapshot -> 'states') r
   join items i on i.id = r.item_id
   where t.id = $1`,
);

const restoreConfigs = statement<never>(
  "trash_restore_configs",
  `insert into project_configs (root_id, config_yaml, fingerprint, history, updated_at, updated_by, actor, verification)
   select r.root_id, r.config_yaml, r.fingerprint, r.history, r.updated_at, r.updated_by, r.actor, r.verification
   from trash t, jsonb_populate_recordset(null::project_configs, t.snapshot -> 'configs') r
   where t.id = $1`,
);

const restoreAttempts = statement<never>(
  "trash_restore_attempts",
  `insert into attempts (item_id, fence, agent, session, parent_agent, claimed_at, ended_at, end_reason, detail, usage,
     failure, actor, verification)
   select r.item_id, r.fence, r.agent, r.session, r.parent_agent, r.claimed_at, r.ended_at, r.end_reason, r.detail,
     r.usage, r.failure, r.actor, r.verification
   from trash t, jsonb_populate_recordset(null::attempts, t.snapshot -> 'attempts') r
   where t.id = $1`,
);

const restoreEdges = statement<never>(
  "trash_restore_edges",
  `insert into dependencies (id, from_item, to_item, type, unblock_at, on_cancelled, created_at, created_by,
     created_actor, created_verification)
   select r.id, r.from_item, r.to_item, r.type, r.unblock_at, r.on_cancelled, r.created_at, r.created_by,
     r.created_actor, r.created_verification
   from trash t, jsonb_populate_recordset(null::dependencies, t.snapshot -> 'dependencies') r
   where t.id = $1 and r.id = any($2::uuid[])`,
);

const markRestored = statement<never>(
  "trash_mark_restored",
  `update trash set restored_at = muster_now() where id = $1`,
);

export interface Resting {
  readonly trashId: string;
  /** Ancestors that the restored item has now. */
  readonly ancestors: readonly string[];
  /** How many it had when it was deleted. */
  readonly depth: number;
}

/** Brings back items, states with nothing counted against them, tenures and texts. Edges follow once they are judged. */
export async function restoreFromTrash(handle: Handle, resting: Resting): Promise<void> {
  const { trashId, ancestors, depth } = resting;
  await restoreItems(handle, [trashId, ancestors, depth]);
  await restoreStates(handle, [trashId]);
  await restoreAttempts(handle, [trashId]);
  await restoreTexts(handle, trashId);
  await restoreConfigs(handle, [trashId]);
  await markRestored(handle, [trashId]);
}

export async function restoreTrashedEdges(
  handle: Handle,
  trashId: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length > 0) await restoreEdges(handle, [trashId, ids]);
}
