/**
 * Notes as writers see them. Whoever writes a note holds the lock of its item's state row,
 * so that a note, its version and the holder that was judged belong together; what a note
 * said before goes into its history in the same statement.
 */
import type { Phase } from "../../services/core/schemas/item-schema.ts";
import type { AppliedEdit } from "../../services/core/texts/edit-text.ts";
import type { Author } from "../../services/core/world.ts";
import { Column } from "../binary-array.ts";
import { type Handle, statement } from "../statement.ts";

/** Who wrote a text, as it is stored. */
export interface AuthorRow {
  readonly agent: string | null;
  readonly session: string | null;
  readonly actor: Readonly<Record<string, unknown>> | null;
  readonly verification: Readonly<Record<string, unknown>> | null;
}

/** A note without its body. */
export interface NoteHeadRow extends AuthorRow {
  readonly id: string;
  readonly item_id: string;
  readonly key: string;
  readonly role: Phase;
  readonly version: number;
  readonly created_at: Date;
  readonly modified_at: Date;
  /** In characters. */
  readonly body_length: number;
}

export interface NoteRow extends NoteHeadRow {
  readonly body: string;
}

/** Columns of {@link NoteHeadRow}, of a table called `n`. */
export const NOTE_HEAD = `n.id, n.item_id, n.key, n.role, n.version, n.created_at, n.modified_at, n.agent, n.session,
  n.actor, n.verification, length(n.body) as body_length`;

/** Who filled a note, as far as gates ask. */
export interface FilledNote {
  readonly role: Phase;
  readonly agent: string | null;
  readonly session: string | null;
  /** The name that was proven; null if none was. */
  readonly verifiedAs: string | null;
}

const filled = statement<{
  item_id: string;
  key: string;
  role: Phase;
  agent: string | null;
  session: string | null;
  verified: boolean;
}>(
  "notes_filled",
  // A note of nothing but white space fills no gate.
  `select item_id, key, role, agent, session, coalesce(verification ->> 'status' = 'verified', false) as verified
   from notes where item_id = any($1::uuid[]) and body ~ '[^[:space:]]'`,
);

/** By item, then by key: the notes that say anything, and who wrote them. Items without any are missing. */
export async function filledNotes(
  handle: Handle,
  itemIds: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, FilledNote>>> {
  const found = new Map<string, Map<string, FilledNote>>();
  if (itemIds.length === 0) return found;
  for (const row of await filled(handle, [itemIds])) {
    const notes = found.get(row.item_id) ?? new Map<string, FilledNote>();
    found.set(row.item_id, notes);
    const { role, agent, session } = row;
    notes.set(row.key, { role, agent, session, verifiedAs: row.verified ? agent : null });
  }
  return found;
}

const keys = statement<{ item_id: string; key: string }>(
  "notes_keys",
  `select item_id, key from notes where item_id = any($1::uuid[])`,
);

/** By item: the keys that have a note, blank ones too. */
export async function existingNoteKeys(
  handle: Handle,
  itemIds: readonly string[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const found = new Map<string, Set<string>>();
  if (itemIds.length === 0) return found;
  for (const { item_id: itemId, key } of await keys(handle, [itemIds]))
    found.set(itemId, (found.get(itemId) ?? new Set()).add(key));
  return found;
}

const byKey = statement<NoteRow>(
  "notes_by_key",
  `select ${NOTE_HEAD}, n.body from notes n where n.item_id = $1 and n.key = $2`,
);

export async function findNote(handle: Handle, itemId: string, key: string): Promise<NoteRow | null> {
  const [row] = await byKey(handle, [itemId, key]);
  return row ?? null;
}

export interface NoteWrite {
  /** For a note that is new; one that exists keeps its own. */
  readonly id: string;
  readonly itemId: string;
  readonly key: string;
  readonly role: Phase;
  readonly body: string;
  readonly author: Author;
  /** What an edit by anchor replaced; null for a body that was written whole. */
  readonly edits: readonly AppliedEdit[] | null;
}

export interface WrittenNoteRow {
  readonly id: string;
  readonly item_id: string;
  readonly key: string;
  readonly version: number;
  readonly created_at: Date;
  readonly modified_at: Date;
}

// A note that was deleted and comes back goes on counting where its history ends. The instant of the last
// change always moves forward, even when the clock did not.
const save = statement<WrittenNoteRow>(
  "notes_save",
  `with c as materialized (
     select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
       $8::text[], $9::text[], $10::text[])
       as c(id, item_id, key, role, body, agent, session, actor, verification, edits)
   ), said as materialized (
     select n.* from c join notes n on n.item_id = c.item_id and n.key = c.key
   ), kept as (
     insert into note_versions (item_id, key, version, note_id, role, body, at, agent, session, actor, verification, edits)
     select s.item_id, s.key, s.version, s.id, s.role, s.body, s.modified_at, s.agent, s.session, s.actor,
       s.verification, s.edits
     from said s
   ), pruned as (
     delete from note_versions v using said s
     where v.item_id = s.item_id and v.key = s.key and v.version <= s.version - $11
   )
   insert into notes as n (id, item_id, key, role, body, version, agent, session, actor, verification, edits)
   select c.id, c.item_id, c.key, c.role, c.body,
     coalesce((select max(v.version) from note_versions v where v.item_id = c.item_id and v.key = c.key), 0) + 1,
     c.agent, c.session, c.actor::jsonb, c.verification::jsonb, c.edits::jsonb
   from c
   on conflict (item_id, key) do update set role = excluded.role, body = excluded.body, version = n.version + 1,
     modified_at = greatest(muster_now(), n.modified_at + interval '1 millisecond'), agent = excluded.agent,
     session = excluded.session, actor = excluded.actor, verification = excluded.verification,
     edits = excluded.edits
   returning n.id, n.item_id, n.key, n.version, n.created_at, n.modified_at`,
);

/**
 * Creates or replaces notes, in one statement; no two of them may have the same item and key.
 * @param kept how many earlier versions of each note stay
 */
export async function saveNotes(
  handle: Handle,
  notes: readonly NoteWrite[],
  kept: number,
): Promise<WrittenNoteRow[]> {
  if (notes.length === 0) return [];
  const text = (of: (note: NoteWrite) => string | null): Column => new Column("text", notes.map(of));
  const uuid = (of: (note: NoteWrite) => string): Column => new Column("uuid", notes.map(of));
  const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));
  return await save(handle, [
    uuid((note) => note.id),
    uuid((note) => note.itemId),
    text((note) => note.key),
    text((note) => note.role),
    text((note) => note.body),
    text((note) => note.author.agent),
    text((note) => note.author.session),
    text((note) => json(note.author.actor)),
    text((note) => json(note.author.verification)),
    text((note) => json(note.edits)),
    kept,
  ]);
}

export interface DeletedNoteRow {
  readonly id: string;
  readonly item_id: string;
  readonly key: string;
  readonly version: number;
}

const remove = statement<DeletedNoteRow>(
  "notes_delete",
  `with gone as (
     delete from notes n where n.item_id = $1 and ($2::text is null or n.key = $2) returning n.*
   ), kept as (
     insert into note_versions (item_id, key, version, note_id, role, body, at, agent, session, actor, verification, edits)
     select g.item_id, g.key, g.version, g.id, g.role, g.body, g.modified_at, g.agent, g.session, g.actor,
       g.verification, g.edits
     from gone g
   )
   select id, item_id, key, version from gone order by key`,
);

/** Deletes the item's note with this key, or all of its notes. What they said stays in their history. */
export async function deleteNotes(
  handle: Handle,
  itemId: string,
  key: string | null,
): Promise<DeletedNoteRow[]> {
  return await remove(handle, [itemId, key]);
}

const touch = statement<never>(
  "notes_touch_item",
  `update item_state set modified_at = greatest(muster_now(), modified_at + interval '1 millisecond') where item_id = $1`,
);

/** Lets the holder of the item find out, with its next heartbeat, that there is something new to read. */
export async function touchHeldItem(handle: Handle, itemId: string): Promise<void> {
  await touch(handle, [itemId]);
}
