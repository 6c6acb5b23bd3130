/** `query_notes`: notes, their earlier versions, and what changed between two of them. */
import { findNoteHistory, findNoteTexts, type NoteTextRow } from "../../../db/stores/note-history-store.ts";
import { findNotePlaces, listNotes, type ListedNoteRow } from "../../../db/stores/note-read-store.ts";
import { findNote, type NoteRow } from "../../../db/stores/note-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault, type MusterError } from "../../contract/errors.ts";
import { DIFF_LENGTH_MAX } from "../../contract/limits.ts";
import type {
  GetNote,
  ListedNote,
  ListNotes,
  ListNotesOutput,
  NoteDiff,
  NoteDiffOutput,
  NoteHistory,
  NoteHistoryOutput,
  NoteRef,
  QueryNotesInput,
  QueryNotesOutput,
  SearchNotes,
  WholeNote,
} from "../../contract/operations/query-notes.ts";
import type { SearchHits } from "../../contract/searching.ts";
import { unifiedDiff } from "../../core/texts/line-diff.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { attribution, toVersion } from "../notes/note-answers.ts";
import { requireItem } from "../resolve-items.ts";
import { searchTexts } from "../search/search-texts.ts";
import { endOfPart } from "./end-of-part.ts";
import { fitPage, PAGE_SIZE_MAX_BYTES, sizeOf } from "./fit-page.ts";
import { resolveFilter } from "./resolve-filter.ts";
import { inSnapshot } from "./snapshot.ts";
import type { Looker } from "../access.ts";

export async function queryNotes(
  deps: EngineDeps,
  input: QueryNotesInput,
  caller: Caller,
): Promise<QueryNotesOutput> {
  return await inSnapshot(deps, async (handle) => {
    switch (input.operation) {
      case "get":
        return await getNote(handle, input, caller);
      case "list":
        return await listPage(handle, input, caller);
      case "search":
        return await searchPage(handle, input, caller);
      case "history":
        return await historyOf(handle, input, caller);
      case "diff":
        return await diffOf(handle, input, caller);
    }
  });
}

interface Place {
  readonly itemId: string;
  readonly key: string;
}

async function placeOf(handle: Handle, ref: NoteRef, caller: Looker): Promise<Place> {
  if (ref.noteId === null) return { itemId: await requireItem(handle, ref.itemId, caller), key: ref.key };
  const place = (await findNotePlaces(handle, [ref.noteId])).get(ref.noteId);
  if (place === undefined) throw fault("RESOURCE_NOT_FOUND", `there is no note ${ref.noteId}`, NOT_FOUND);
  return place;
}

const NOT_FOUND = { hint: "List the item's notes with query_notes; the note may be deleted." };

async function getNote(handle: Handle, input: GetNote, caller: Looker): Promise<WholeNote> {
  const { itemId, key } = await placeOf(handle, input.note, caller);
  const note = await findNote(handle, itemId, key);
  if (note === null) throw fault("RESOURCE_NOT_FOUND", `item ${itemId} has no note "${key}"`, NOT_FOUND);
  const { version } = input;
  const text = version === null ? asText(note) : await textOf(handle, { itemId, key }, version);
  const end = endOfPart(text.body, input.offset);
  const body = text.body.slice(input.offset, end);
  return {
    id: note.id,
    itemId,
    key,
    role: text.role,
    version: text.version,
    body,
    bodyLength: text.body.length,
    ...(end < text.body.length ? { nextOffset: end } : {}),
    createdAt: note.created_at.toISOString(),
    modifiedAt: text.at.toISOString(),
    ...attribution(text),
  };
}

function asText(
  note: NoteRow,
): Pick<NoteTextRow, "role" | "version" | "body" | "at" | "actor" | "verification"> {
  return { ...note, at: note.modified_at };
}

async function listPage(handle: Handle, input: ListNotes, caller: Looker): Promise<ListNotesOutput> {
  const { limit, offset, role, keys, includeBody } = input;
  const itemId = await requireItem(handle, input.itemId, caller);
  const rows = await listNotes(handle, itemId, {
    role,
    keys,
    bodiesLengthMax: includeBody ? PAGE_SIZE_MAX_BYTES : null,
    limit,
    offset,
  });
  // A page ends before the first body that it has no room for, so that going on by offset misses none.
  const omitted = includeBody ? rows.findIndex((row, index) => index > 0 && row.body === null) : -1;
  const notes = fitPage((omitted < 0 ? rows : rows.slice(0, omitted)).map(listedNote));
  // A body that is too long for a page by itself is got alone, piece by piece.
  const [first, second] = notes;
  if (second === undefined && first?.body !== undefined && sizeOf(first) > PAGE_SIZE_MAX_BYTES) {
    delete first.body;
    first.bodyLength = rows[0]?.body_length;
  }
  const total = rows[0]?.total ?? 0;
  return { notes, total, returned: notes.length, hasMore: offset + notes.length < total, limit, offset };
}

function listedNote(row: ListedNoteRow): ListedNote {
  return {
    id: row.id,
    key: row.key,
    role: row.role,
    version: row.version,
    ...(row.body === null ? { bodyLength: row.body_length } : { body: row.body }),
    createdAt: row.created_at.toISOString(),
    modifiedAt: row.modified_at.toISOString(),
    ...attribution(row),
  };
}

async function searchPage(handle: Handle, input: SearchNotes, caller: Looker): Promise<SearchHits> {
  const { ancestorId, ...asked } = input;
  const itemId = asked.itemId === undefined ? undefined : await requireItem(handle, asked.itemId, caller);
  const within = { filter: await resolveFilter(handle, { ancestorId }, caller), itemId };
  const found = await searchTexts(handle, { ...asked, kinds: ["note"], within });
  // Under the name that clients of the original read as well.
  return { ...found, hits: found.hits.map((hit) => ({ ...hit, noteKey: hit.key })) };
}

async function historyOf(handle: Handle, input: NoteHistory, caller: Looker): Promise<NoteHistoryOutput> {
  const { itemId, key } = await placeOf(handle, input.note, caller);
  const rows = await findNoteHistory(handle, itemId, key, { before: input.before, limit: input.limit + 1 });
  // Also of a note that was deleted: what it said is still known.
  if (rows.length === 0 && input.before === null)
    throw fault("RESOURCE_NOT_FOUND", `item ${itemId} never had a note "${key}"`, NOT_FOUND);
  const versions = fitPage(rows.slice(0, input.limit).map(toVersion));
  return { itemId, key, versions, hasMore: versions.length < rows.length };
}

async function diffOf(handle: Handle, input: NoteDiff, caller: Looker): Promise<NoteDiffOutput> {
  const place = await placeOf(handle, input.note, caller);
  const { itemId, key } = place;
  const [latest] = await findNoteHistory(handle, itemId, key, { limit: 1 });
  if (latest === undefined)
    throw fault("RESOURCE_NOT_FOUND", `item ${itemId} never had a note "${key}"`, NOT_FOUND);
  const to = input.to ?? latest.version;
  const from = input.from ?? to - 1;
  const texts = await findNoteTexts(handle, itemId, key, [from, to]);
  const bodyAt = (version: number): string => {
    // Before the first version there was nothing.
    const text = texts.get(version);
    if (text === undefined && version > 0) throw notKept(key, version);
    return text?.body ?? "";
  };
  const { text: diff, ...counts } = unifiedDiff(bodyAt(from), bodyAt(to), DIFF_LENGTH_MAX);
  return { itemId, key, from, to, diff, ...counts };
}

async function textOf(handle: Handle, { itemId, key }: Place, version: number): Promise<NoteTextRow> {
  const text = (await findNoteTexts(handle, itemId, key, [version])).get(version);
  if (text === undefined) throw notKept(key, version);
  return text;
}

function notKept(key: string, version: number): MusterError {
  return fault(
    "RESOURCE_NOT_FOUND",
    `version ${version} of note "${key}" is not kept any more, or never was`,
    {
      hint: "Ask for its history with query_notes.",
    },
  );
}
