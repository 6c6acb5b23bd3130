/** Reads of notes: lists without bodies unless they are asked for, and what the schemas of items follow from. */
import type { Phase } from "../../services/core/schemas/item-schema.ts";
import type { Role } from "../../services/core/roles.ts";
import { type Handle, statement } from "../statement.ts";
import { NOTE_HEAD, type NoteHeadRow } from "./note-store.ts";

export interface ListedNoteRow extends NoteHeadRow {
  /** Null unless bodies were asked for and there is room for this one. */
  readonly body: string | null;
  readonly total: number;
}

const PHASE_ORDER = `array_position(array['queue', 'work', 'review'], p.role), p.created_at, p.key`;

// No body is read that the answer has no room for.
const list = statement<ListedNoteRow>(
  "notes_list",
  `with page as materialized (
     select ${NOTE_HEAD}, (count(*) over ())::int as total
     from notes n
     where n.item_id = $1 and ($2::text is null or n.role = $2) and ($3::text[] is null or n.key = any($3))
     order by array_position(array['queue', 'work', 'review'], n.role), n.created_at, n.key
     limit $5 offset $6
   ), measured as (
     select p.*, sum(p.body_length) over (order by ${PHASE_ORDER} rows unbounded preceding) as running from page p
   )
   select p.id, p.item_id, p.key, p.role, p.version, p.created_at, p.modified_at, p.agent, p.session, p.actor,
     p.verification, p.body_length, p.total,
     case when p.running <= $4::int then (select n.body from notes n where n.id = p.id) end as body
   from measured p order by ${PHASE_ORDER}`,
);

export interface NotePage {
  readonly role?: Phase | undefined;
  readonly keys?: readonly string[] | undefined;
  /** Characters of bodies that the page has room for; null: none are wanted. */
  readonly bodiesLengthMax: number | null;
  readonly limit: number;
  readonly offset: number;
}

/** A page of an item's notes, in the order of their phases. */
export async function listNotes(handle: Handle, itemId: string, page: NotePage): Promise<ListedNoteRow[]> {
  const { role, keys, bodiesLengthMax, limit, offset } = page;
  return await list(handle, [itemId, role ?? null, keys ?? null, bodiesLengthMax, limit, offset]);
}

const places = statement<{ id: string; item_id: string; key: string }>(
  "notes_places",
  `select id, item_id, key from notes where id = any($1::uuid[])`,
);

/** Where notes are, by their ids. Those that do not exist are missing. */
export async function findNotePlaces(
  handle: Handle,
  ids: readonly string[],
): Promise<ReadonlyMap<string, { readonly itemId: string; readonly key: string }>> {
  const rows = await places(handle, [ids]);
  return new Map(rows.map(({ id, item_id: itemId, key }) => [id, { itemId, key }]));
}

const subjects = statement<{
  id: string;
  rootId: string;
  type: string | null;
  tags: string[];
  traits: string[];
  role: Role;
  previousRole: Phase | null;
}>(
  "items_schema_subjects",
  `select i.id, i.root_id as "rootId", i.type, i.tags, i.traits, s.role, s.previous_role as "previousRole"
   from items i join item_state s on s.item_id = i.id where i.id = any($1::uuid[])`,
);

/** Items with what their schema follows from, and the role that they are in. */
export async function findSchemaSubjects(
  handle: Handle,
  ids: readonly string[],
): ReturnType<typeof subjects> {
  return await subjects(handle, [ids]);
}
