/**
 * Writing notes inside somebody's transaction: the one place where what a note may be is
 * decided, whichever door it comes through. Whoever calls holds the lock of each item's
 * state row and has asked its door.
 *
 * Entries succeed or fail one by one. A caller for whom they belong together throws the
 * first failure. What is written is reported as an event, to be stored with everything else.
 */
import { randomUUID } from "node:crypto";
import { type NoteWrite, saveNotes } from "../../../db/stores/note-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault, type MusterError } from "../../contract/errors.ts";
import { NOTE_BODY_SIZE_MAX_BYTES, TEXT_VERSIONS_KEPT } from "../../contract/limits.ts";
import type { ItemSchema, Phase } from "../../core/schemas/item-schema.ts";
import { concernsCopies } from "../../core/schemas/start-copies.ts";
import type { AppliedEdit } from "../../core/texts/edit-text.ts";
import type { Author, World } from "../../core/world.ts";
import { refreshCopiesBy } from "../config/refresh-copies.ts";
import type { SchemaKey, Schemas } from "../config/schema-source.ts";

/** An item that a note is written on; every `ItemState` is one. */
export interface NoteTarget extends SchemaKey {
  readonly id: string;
}

export interface NoteEntry {
  readonly item: NoteTarget;
  readonly key: string;
  readonly role: Phase;
  readonly body: string;
  /** Its position in the call, for messages; if it is not the position among the entries. */
  readonly index?: number;
  /** If it is not the author of all. */
  readonly author?: Author;
  /** What an edit by anchor replaced, for its undoing. */
  readonly edits?: readonly AppliedEdit[];
}

export interface WrittenNote {
  readonly id: string;
  readonly itemId: string;
  readonly key: string;
  readonly role: Phase;
  readonly version: number;
  readonly createdAt: Date;
  readonly modifiedAt: Date;
  readonly author: Author;
  /** With it the item has all that its start asks for: a claim that waits may want it. */
  readonly opensStart: boolean;
  /** It is longer than its schema wants it. */
  readonly warning: string | null;
}

export type NoteOutcome =
  | { readonly ok: true; readonly note: WrittenNote; readonly event: NoteEvent }
  | { readonly ok: false; readonly error: MusterError };

/** To be pushed to `world.events`. */
export type NoteEvent = World["events"][number];

/**
 * Outcomes by position. Of entries that name the same item and key, all but the first are refused.
 * @param schemas loaded in the same transaction for the roots of all items
 */
export async function writeNotes(
  tx: Handle,
  schemas: Schemas,
  entries: readonly NoteEntry[],
  author: Author,
): Promise<NoteOutcome[]> {
  const places = new Set<string>();
  const judged = entries.map((entry, index) => {
    const place = placeOf(entry.item.id, entry.key);
    if (places.has(place)) return refused(saidTwice(entry, entry.index ?? index));
    places.add(place);
    return judge(entry, entry.index ?? index, schemas.of(entry.item));
  });
  const writes = entries.flatMap((entry, index): NoteWrite[] =>
    judged[index]?.error === null ? [toWrite(entry, author)] : [],
  );
  const rows = await saveNotes(tx, writes, TEXT_VERSIONS_KEPT);
  const opened = await refreshStarts(tx, schemas, writes.length === 0 ? [] : entries);
  const byPlace = new Map(rows.map((row) => [placeOf(row.item_id, row.key), row]));
  return entries.map((entry, index): NoteOutcome => {
    const { error, warning } = judged[index] ?? { error: null, warning: null };
    if (error !== null) return { ok: false, error };
    const { item, role } = entry;
    const key = entry.key;
    const row = byPlace.get(placeOf(item.id, key));
    if (row === undefined) throw new Error(`the note ${key} of ${item.id} was not written`);
    const { id, version } = row;
    return {
      ok: true,
      note: {
        id,
        itemId: item.id,
        key,
        role,
        version,
        createdAt: row.created_at,
        modifiedAt: row.modified_at,
        author: entry.author ?? author,
        opensStart: opened.has(item.id),
        warning,
      },
      event: {
        type: "note.upserted",
        itemId: item.id,
        rootId: item.rootId,
        data: { noteId: id, key, role, version },
      },
    };
  });
}

/** Offers are filtered by a copy of what the notes say of an item's start and review. */
export async function refreshStarts(
  tx: Handle,
  schemas: Schemas,
  touched: readonly { readonly item: NoteTarget; readonly key: string }[],
): Promise<ReadonlySet<string>> {
  const asked = touched.filter(({ item, key }) => concernsCopies(schemas.of(item), key));
  return await refreshCopiesBy(tx, schemas, [...new Set(asked.map(({ item }) => item.id))]);
}

function placeOf(itemId: string, key: string): string {
  return `${itemId}/${key}`;
}

function toWrite(entry: NoteEntry, author: Author): NoteWrite {
  return {
    id: randomUUID(),
    itemId: entry.item.id,
    key: entry.key,
    role: entry.role,
    body: normalizeBody(entry.body),
    author: entry.author ?? author,
    edits: entry.edits ?? null,
  };
}

/** One kind of line end, so that anchors and lengths do not depend on the machine that wrote the text. */
export function normalizeBody(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

interface Judged {
  readonly error: MusterError | null;
  readonly warning: string | null;
}

function refused(error: MusterError): Judged {
  return { error, warning: null };
}

function saidTwice({ key, item }: NoteEntry, index: number): MusterError {
  return fault("validation_failed", `note ${index} "${key}" of ${item.id} is there twice; send it once`);
}

/** What keeps this from being a note of an item with this schema; null: nothing. Changes nothing. */
export function refusalOf(
  entry: Pick<NoteEntry, "key" | "role" | "body">,
  index: number,
  schema: ItemSchema,
): MusterError | null {
  return judge(entry, index, schema).error;
}

function judge(
  { key, role, body }: Pick<NoteEntry, "key" | "role" | "body">,
  index: number,
  schema: ItemSchema,
): Judged {
  const text = normalizeBody(body);
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > NOTE_BODY_SIZE_MAX_BYTES) {
    const message = `note ${index} "${key}" has ${bytes} bytes; at most ${NOTE_BODY_SIZE_MAX_BYTES}`;
    return refused(
      fault("NOTE_BODY_TOO_LARGE", message, {
        details: { key, maxBytes: NOTE_BODY_SIZE_MAX_BYTES, actualBytes: bytes },
      }),
    );
  }
  const spec = schema.notes.find((note) => note.key === key);
  if (spec === undefined) return { error: null, warning: null };
  if (spec.role !== role) {
    // Under another role it would fill a gate of a phase that it does not belong to.
    const message = `note ${index} "${key}" belongs to role ${spec.role} in the item's schema, not to ${role}`;
    return refused(
      fault("validation_failed", message, {
        details: { index, key, expectedRole: spec.role, submittedRole: role },
        hint: `Send it again with role "${spec.role}".`,
      }),
    );
  }
  if (spec.maxLength === null || text.length <= spec.maxLength) return { error: null, warning: null };
  const lengths = { key, maxLength: spec.maxLength, actualLength: text.length };
  const message = `note "${key}" has ${text.length} characters; its schema allows ${spec.maxLength}`;
  if (schema.noteLimits === "warn") return { error: null, warning: message };
  return refused(fault("NOTE_BODY_TOO_LONG", message, { details: lengths }));
}
