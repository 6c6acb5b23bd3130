/**
 * Rows that come from another database, with their ids and instants. Items are staged first: nobody
 * is offered one before its edges are drawn and its counters are right. What was there before stays.
 */
import { type Handle, statement } from "../statement.ts";

/** An instant that never comes: marks an item whose import is not over. */
export const STAGED = `timestamptz '9999-12-30T00:00:00Z'`;

/** Instants are ISO texts. */
export interface ImportedItem {
  readonly id: string;
  readonly parent_id: string | null;
  readonly title: string;
  readonly summary: string;
  readonly description: string | null;
  readonly type: string | null;
  readonly tags: readonly string[];
  readonly traits: readonly string[];
  /** JSON text: as an object, large numbers would not stay what they are. Its `traits` are in the column above. */
  readonly properties: string | null;
  readonly metadata: string | null;
  readonly priority: "high" | "medium" | "low";
  readonly complexity: number | null;
  readonly requires_verification: boolean;
  readonly version: number;
  readonly created_at: string;
  readonly modified_at: string;
  readonly role: string;
  readonly previous_role: string | null;
  readonly outcome: string | null;
  readonly status_label: string | null;
  readonly role_changed_at: string;
  /** Who held it, and since when: the claim ends with the import. */
  readonly held_by: string | null;
  readonly held_since: string | null;
}

export interface ImportedText {
  readonly agent: string | null;
  readonly actor: Readonly<Record<string, unknown>> | null;
  readonly verification: Readonly<Record<string, unknown>> | null;
}

export interface ImportedNote extends ImportedText {
  readonly id: string;
  readonly item_id: string;
  readonly key: string;
  readonly role: string;
  readonly body: string;
  readonly created_at: string;
  readonly modified_at: string;
}

export interface ImportedTransition extends ImportedText {
  readonly item_id: string;
  readonly from_role: string;
  readonly to_role: string;
  readonly from_label: string | null;
  readonly to_label: string | null;
  readonly trigger: string;
  readonly summary: string | null;
  readonly at: string;
  readonly consumed_credentials: readonly string[] | null;
}

export interface ImportedEdge {
  readonly id: string;
  readonly from_item: string;
  readonly to_item: string;
  readonly type: "BLOCKS" | "RELATES_TO";
  readonly unblock_at: string | null;
  readonly created_at: string;
}

export interface ImportedConfig {
  readonly root_id: string;
  readonly config_yaml: string;
  readonly fingerprint: string;
  readonly history: readonly string[];
  readonly updated_at: string;
}

export interface ImportedPlan {
  readonly id: string;
  readonly root_id: string;
  readonly slug: string;
  readonly body: string;
  readonly content_hash: string;
  readonly status: "pending" | "adopted";
  readonly adopted_by: string | null;
  readonly created_at: string;
  readonly modified_at: string;
}

const parents = statement<{ id: string; root_id: string; depth: number }>(
  "import_parents",
  `select id, root_id, depth from items where id = any($1::uuid[])`,
);

/** Items that are there, with their place. */
export async function findPlaced(
  handle: Handle,
  ids: readonly string[],
): Promise<ReadonlyMap<string, { readonly rootId: string; readonly depth: number }>> {
  if (ids.length === 0) return new Map();
  const rows = await parents(handle, [ids]);
  return new Map(rows.map(({ id, root_id: rootId, depth }) => [id, { rootId, depth }]));
}

const items = statement<{ id: string }>(
  "import_items",
  `with c as (
     select r.*, coalesce(p.root_id, r.id) as root_id,
       case when p.id is null then '{}'::uuid[] else p.ancestors || p.id end as ancestors
     from jsonb_to_recordset($1::jsonb) as r(id uuid, parent_id uuid, title text, summary text, description text,
       type text, tags text[], traits text[], properties text, metadata text, priority text, complexity smallint,
       requires_verification boolean, version int, created_at timestamptz, modified_at timestamptz, role text,
       previous_role text, outcome text, status_label text, role_changed_at timestamptz, held_by text,
       held_since timestamptz)
     left join items p on p.id = r.parent_id
   ), added as (
     insert into items (id, root_id, parent_id, ancestors, depth, title, summary, description, type, tags, traits,
       needs, properties, metadata, priority, complexity, requires_verification, version, created_at, modified_at)
     select id, root_id, parent_id, ancestors, cardinality(ancestors), title, summary, description, type, tags, traits,
       '{}', nullif(properties::jsonb - 'traits', '{}'), metadata, priority, complexity, requires_verification, version, created_at, modified_at
     from c on conflict (id) do nothing
     returning id
   ), states as (
     insert into item_state (item_id, role, previous_role, outcome, status_label, available_at, fence, root_id,
       parent_id, ancestors, rank, priority, complexity, created_at, modified_at, role_changed_at, type, tags,
       traits, needs)
     select id, role, previous_role, outcome, status_label, ${STAGED}, (held_by is not null)::int, root_id, parent_id,
       ancestors, muster_rank(priority, complexity), priority, complexity, created_at, modified_at, role_changed_at,
       type, tags, traits, '{}'
     from c join added using (id)
   ), tenures as (
     insert into attempts (item_id, fence, agent, session, claimed_at, ended_at, end_reason, detail)
     select id, 1, held_by, 'imported', held_since, muster_now(), 'released', 'imported'
     from c join added using (id) where held_by is not null
   )
   select id from added`,
);

/** Parents must be there. Answers which are new; whatever hangs on the others stays as it is. */
export async function addItems(handle: Handle, rows: readonly ImportedItem[]): Promise<Set<string>> {
  if (rows.length === 0) return new Set();
  return new Set((await items(handle, [JSON.stringify(rows)])).map((row) => row.id));
}

const notes = statement<{ id: string }>(
  "import_notes",
  `insert into notes (id, item_id, key, role, body, created_at, modified_at, agent, actor, verification)
   select id, item_id, key, role, body, created_at, modified_at, agent, actor, verification
   from jsonb_to_recordset($1::jsonb) as r(id uuid, item_id uuid, key text, role text, body text,
     created_at timestamptz, modified_at timestamptz, agent text, actor jsonb, verification jsonb)
   on conflict do nothing returning id`,
);

export async function addNotes(handle: Handle, rows: readonly ImportedNote[]): Promise<Set<string>> {
  if (rows.length === 0) return new Set();
  return new Set((await notes(handle, [JSON.stringify(rows)])).map((row) => row.id));
}

const transitions = statement<never>(
  "import_transitions",
  `insert into transitions (item_id, root_id, from_role, to_role, from_label, to_label, trigger, summary, agent, actor,
     verification, consumed_credentials, at)
   select r.item_id, i.root_id, r.from_role, r.to_role, r.from_label, r.to_label, r.trigger, r.summary, r.agent, r.actor,
     r.verification, r.consumed_credentials, r.at
   from rows from (jsonb_to_recordset($1::jsonb) as (item_id uuid, from_role text, to_role text, from_label text,
     to_label text, trigger text, summary text, agent text, actor jsonb, verification jsonb,
     consumed_credentials text[], at timestamptz)) with ordinality as r(item_id, from_role, to_role, from_label,
     to_label, trigger, summary, agent, actor, verification, consumed_credentials, at, n)
   join items i on i.id = r.item_id order by r.n`,
);

/** In the order in which they happened. */
export async function addTransitions(handle: Handle, rows: readonly ImportedTransition[]): Promise<void> {
  if (rows.length > 0) await transitions(handle, [JSON.stringify(rows)]);
}

const staged = statement<{ item_id: string }>(
  "import_staged",
  `select item_id from item_state where item_id = any($1::uuid[]) and available_at = ${STAGED}`,
);

/** Those of the items whose import is not over. */
export async function findStaged(handle: Handle, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  return new Set((await staged(handle, [ids])).map((row) => row.item_id));
}

const edges = statement<{ id: string }>(
  "import_edges",
  `insert into dependencies (id, from_item, to_item, type, unblock_at, on_cancelled, created_at)
   select id, from_item, to_item, type, unblock_at, case when type = 'BLOCKS' then 'release' end, created_at
   from jsonb_to_recordset($1::jsonb) as r(id uuid, from_item uuid, to_item uuid, type text, unblock_at text,
     created_at timestamptz)
   on conflict do nothing returning id`,
);

/** A cancelled blocker lets go, as it did where the edges come from. Answers which are new. */
export async function addEdges(handle: Handle, rows: readonly ImportedEdge[]): Promise<Set<string>> {
  if (rows.length === 0) return new Set();
  return new Set((await edges(handle, [JSON.stringify(rows)])).map((row) => row.id));
}

const drawn = statement<{ from_item: string; to_item: string; type: "BLOCKS" | "RELATES_TO" }>(
  "import_drawn",
  `select from_item, to_item, type from dependencies where from_item = any($1::uuid[]) or to_item = any($1::uuid[])`,
);

/** Edges that are there already at any of the items. */
export async function findDrawn(handle: Handle, ids: readonly string[]): ReturnType<typeof drawn> {
  return ids.length === 0 ? [] : await drawn(handle, [ids]);
}

const lineage = statement<{ id: string; parent_id: string | null }>(
  "import_lineage",
  `select i.id, i.parent_id from items i where i.id in (
     select unnest($1::uuid[]) union select unnest(s.ancestors) from items s where s.id = any($1::uuid[]))`,
);

/** The items and everything above them, with their parents. */
export async function findLineage(handle: Handle, ids: readonly string[]): ReturnType<typeof lineage> {
  return ids.length === 0 ? [] : await lineage(handle, [ids]);
}

const configs = statement<{ root_id: string }>(
  "import_configs",
  `insert into project_configs (root_id, config_yaml, fingerprint, history, updated_at)
   select root_id, config_yaml, fingerprint, history, updated_at
   from jsonb_to_recordset($1::jsonb) as r(root_id uuid, config_yaml text, fingerprint text, history text[],
     updated_at timestamptz)
   on conflict do nothing returning root_id`,
);

/** True if the project had none. */
export async function addConfig(handle: Handle, row: ImportedConfig): Promise<boolean> {
  return (await configs(handle, [JSON.stringify([row])])).length > 0;
}

const plans = statement<{ id: string }>(
  "import_plans",
  `insert into plan_documents (id, root_id, slug, body, content_hash, status, adopted_by, created_at, modified_at)
   select r.id, r.root_id, r.slug, r.body, r.content_hash, r.status,
     (select i.id from items i where i.id = r.adopted_by), r.created_at, r.modified_at
   from jsonb_to_recordset($1::jsonb) as r(id uuid, root_id uuid, slug text, body text, content_hash text, status text,
     adopted_by uuid, created_at timestamptz, modified_at timestamptz)
   on conflict do nothing returning id`,
);

/** True if the project had none of this slug. */
export async function addPlan(handle: Handle, row: ImportedPlan): Promise<boolean> {
  return (await plans(handle, [JSON.stringify([row])])).length > 0;
}
