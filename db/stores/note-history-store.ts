/** What notes said before, newest first. Bodies are read one at a time, and only when asked for. */
import type { Phase } from "../../services/core/schemas/item-schema.ts";
import type { AppliedEdit } from "../../services/core/texts/edit-text.ts";
import { type Handle, statement } from "../statement.ts";
import type { AuthorRow } from "./note-store.ts";

export interface NoteVersionRow extends AuthorRow {
  readonly version: number;
  readonly role: Phase;
  readonly at: Date;
  readonly body_length: number;
}

/** All versions of a note as `v`, the present one among them. $1: item; $2: key. */
const VERSIONS = `(
  select n.version, n.role, n.modified_at as at, n.body, n.edits, n.agent, n.session, n.actor, n.verification
  from notes n where n.item_id = $1 and n.key = $2
  union all
  select h.version, h.role, h.at, h.body, h.edits, h.agent, h.session, h.actor, h.verification
  from note_versions h where h.item_id = $1 and h.key = $2
) v`;

const history = statement<NoteVersionRow>(
  "note_history",
  `select v.version, v.role, v.at, length(v.body) as body_length, v.agent, v.session, v.actor, v.verification
   from ${VERSIONS}
   where ($3::int is null or v.version < $3) and ($4::int is null or v.version > $4)
   order by v.version desc limit $5`,
);

export interface HistoryWindow {
  /** Only versions below this one. */
  readonly before?: number | null;
  /** Only versions above this one. */
  readonly after?: number | null;
  readonly limit: number;
}

export async function findNoteHistory(
  handle: Handle,
  itemId: string,
  key: string,
  window: HistoryWindow,
): Promise<NoteVersionRow[]> {
  return await history(handle, [itemId, key, window.before ?? null, window.after ?? null, window.limit]);
}

export interface NoteTextRow extends AuthorRow {
  readonly version: number;
  readonly role: Phase;
  readonly at: Date;
  readonly body: string;
  readonly edits: readonly AppliedEdit[] | null;
}

const textAt = statement<NoteTextRow>(
  "note_text_at",
  `select v.version, v.role, v.at, v.body, v.edits, v.agent, v.session, v.actor, v.verification
   from ${VERSIONS} where v.version = any($3::int[])`,
);

/** The note in these versions; those that are not kept any more are missing. */
export async function findNoteTexts(
  handle: Handle,
  itemId: string,
  key: string,
  versions: readonly number[],
): Promise<ReadonlyMap<number, NoteTextRow>> {
  const rows = await textAt(handle, [itemId, key, versions]);
  return new Map(rows.map((row) => [row.version, row]));
}
