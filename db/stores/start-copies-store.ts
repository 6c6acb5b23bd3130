/** What offers are filtered by that follows from the schema of an item: read and written under its row's lock. */
import type { StartCopies } from "../../services/core/schemas/start-copies.ts";
import { type Handle, statement } from "../statement.ts";

const columns = `s.item_id, s.root_id, s.type, s.tags, s.traits, s.start_gate_open, s.resources,
  s.review_excludes, coalesce((select json_object_agg(n.key, n.agent) from notes n
    where n.item_id = s.item_id and n.body ~ '\\S'), '{}') as filled`;

interface Row {
  item_id: string;
  root_id: string;
  type: string | null;
  tags: string[];
  traits: string[];
  start_gate_open: boolean;
  resources: StartCopies["resources"];
  review_excludes: string[] | null;
  filled: Readonly<Record<string, string | null>>;
}

const ofRoot = statement<Row>(
  "start_copies_of_root",
  `select ${columns} from item_state s
   where s.root_id = $1 and s.role <> 'terminal' and s.item_id > $2
   order by s.item_id limit $3 for no key update of s`,
);

const ofItems = statement<Row>(
  "start_copies_of_items",
  `select ${columns} from item_state s where s.item_id = any($1::uuid[]) order by s.item_id for no key update of s`,
);

export interface CopiedItem {
  readonly id: string;
  readonly rootId: string;
  readonly type: string | null;
  readonly tags: readonly string[];
  readonly traits: readonly string[];
  readonly copies: StartCopies;
  /** The agent who wrote it, by key, of its notes that say something. */
  readonly filled: ReadonlyMap<string, string | null>;
}

const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

/** A page of the root's open items in the order of their ids, all locked. */
export async function lockOpenItems(
  handle: Handle,
  rootId: string,
  after: string | null,
  limit: number,
): Promise<CopiedItem[]> {
  return (await ofRoot(handle, [rootId, after ?? BEFORE_ALL, limit])).map(toItem);
}

export async function lockCopies(handle: Handle, ids: readonly string[]): Promise<CopiedItem[]> {
  return (await ofItems(handle, [ids])).map(toItem);
}

function toItem(row: Row): CopiedItem {
  return {
    id: row.item_id,
    rootId: row.root_id,
    type: row.type,
    tags: row.tags,
    traits: row.traits,
    copies: {
      startGateOpen: row.start_gate_open,
      resources: row.resources,
      reviewExcludes: row.review_excludes,
    },
    filled: new Map(Object.entries(row.filled)),
  };
}

const write = statement<never>(
  "start_copies_write",
  `update item_state s set start_gate_open = c.start_gate_open, resources = c.resources,
     review_excludes = c.review_excludes
   from jsonb_to_recordset($1::jsonb) as c(item_id uuid, start_gate_open boolean, resources jsonb, review_excludes text[])
   where s.item_id = c.item_id`,
);

export async function writeCopies(
  handle: Handle,
  rows: readonly (Pick<CopiedItem, "id"> & { readonly copies: StartCopies })[],
): Promise<void> {
  if (rows.length === 0) return;
  await write(handle, [
    JSON.stringify(
      rows.map(({ id, copies }) => ({
        item_id: id,
        start_gate_open: copies.startGateOpen,
        ...(copies.resources === null ? {} : { resources: copies.resources }),
        review_excludes: copies.reviewExcludes,
      })),
    ),
  ]);
}

const roots = statement<{ id: string }>(
  "start_copies_roots",
  `select id from items where parent_id is null and id > $1 order by id limit $2`,
);

/** A page of all roots. */
export async function findRootIds(handle: Handle, after: string | null, limit: number): Promise<string[]> {
  const rows = await roots(handle, [after ?? BEFORE_ALL, limit]);
  return rows.map((row) => row.id);
}
