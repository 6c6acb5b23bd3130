/**
 * Editing notes by anchor, and taking a version back. Both go by what the text says now:
 * a version that the caller does not know yet is no obstacle as long as the places are found,
 * and the answer tells what landed in between.
 */
import { findNoteHistory, findNoteTexts } from "../../../db/stores/note-history-store.ts";
import { findNote, type NoteRow } from "../../../db/stores/note-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault } from "../../contract/errors.ts";
import type {
  NotePatch,
  NoteUndo,
  PatchNotes,
  UndoNotes,
  WriteNotesOutput,
  WrittenNoteAnswer,
} from "../../contract/operations/manage-notes.ts";
import type { AppliedEdit } from "../../core/texts/edit-text.ts";
import { editsBetween } from "../../core/texts/line-diff.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { requireItem } from "../resolve-items.ts";
import {
  type EditedText,
  editText,
  INTERVENING_MAX,
  requireVersion,
  undoText,
} from "../texts/edit-faults.ts";
import type { Answered, WriteCall } from "../writing/write-call.ts";
import { toVersion, toWrittenNote } from "./note-answers.ts";
import { callOf, onItem } from "./note-scene.ts";
import { normalizeBody, writeNotes } from "./write-notes.ts";
import { writeEach } from "./write-each.ts";
import type { Looker } from "../access.ts";

export async function patchNotes(
  deps: EngineDeps,
  call: WriteCall,
  input: PatchNotes,
  caller: Caller,
): Promise<WriteNotesOutput> {
  const { written, ...rest } = await writeEach(deps, input.notes, async (note, index) =>
    changeText(
      deps,
      callOf(call, note.actor, input.workerId, caller),
      note,
      index,
      async (tx, found) => {
        const edits = note.edits.map((edit) => ({
          old: normalizeBody(edit.old),
          new: normalizeBody(edit.new),
          line: edit.line,
        }));
        const edited = editText(found.body, edits, found.version);
        return { edited, marks: await rebaseMarks(tx, found, note.expectedVersion) };
      },
      caller,
    ),
  );
  return { notes: written, patched: written.length, ...rest };
}

export async function undoNotes(
  deps: EngineDeps,
  call: WriteCall,
  input: UndoNotes,
  caller: Caller,
): Promise<WriteNotesOutput> {
  const { written, ...rest } = await writeEach(deps, input.notes, async (note, index) =>
    changeText(
      deps,
      callOf(call, note.actor, input.workerId, caller),
      note,
      index,
      async (tx, found) => {
        requireVersion(note.expectedVersion, found.version, found.modified_at, `note "${note.key}"`);
        const edits = await editsOf(tx, found, note.version);
        return { edited: undoText(found.body, edits, note.version), marks: {} };
      },
      caller,
    ),
  );
  return { notes: written, undone: written.length, ...rest };
}

interface Change {
  readonly edited: EditedText;
  readonly marks: Pick<WrittenNoteAnswer, "rebased" | "intervening">;
}

async function changeText(
  deps: EngineDeps,
  call: WriteCall,
  note: NotePatch | NoteUndo,
  index: number,
  change: (tx: Handle, found: NoteRow) => Promise<Change>,
  caller: Looker,
): Promise<Answered<WrittenNoteAnswer>> {
  const itemId = await requireItem(deps.db, note.itemId, caller);
  const { key } = note;
  return await onItem(deps, call, `n${index}`, { itemId, fence: note.fence ?? null }, async (scene) => {
    const { tx, item, schemas } = scene;
    const found = await findNote(tx, itemId, key);
    if (found === null) throw noNote(itemId, key);
    const { edited, marks } = await change(tx, found);
    const { text: body, applied: edits } = edited;
    const entry = { item, key, role: found.role, body, edits, index };
    const [outcome] = await writeNotes(tx, schemas, [entry], call.author);
    if (outcome === undefined) throw new Error("writing a note has no outcome");
    if (!outcome.ok) throw outcome.error;
    scene.wrote(outcome);
    return { ...toWrittenNote(outcome.note, body), ...marks };
  });
}

function noNote(itemId: string, key: string) {
  return fault("RESOURCE_NOT_FOUND", `item ${itemId} has no note "${key}"`, {
    hint: "Write it with upsert, or list the item's notes with query_notes.",
  });
}

async function rebaseMarks(
  tx: Handle,
  found: NoteRow,
  expected: number | undefined,
): Promise<Change["marks"]> {
  if (expected === undefined || expected === found.version) return {};
  // Nobody can know a version that was never there.
  if (expected > found.version)
    requireVersion(expected, found.version, found.modified_at, `note "${found.key}"`);
  const rows = await findNoteHistory(tx, found.item_id, found.key, {
    after: expected,
    limit: INTERVENING_MAX,
  });
  return { rebased: true, intervening: rows.map(toVersion) };
}

/** What a version changed: the edits it was made by, or else the difference to the one before it. */
async function editsOf(tx: Handle, found: NoteRow, version: number): Promise<readonly AppliedEdit[]> {
  const texts = await findNoteTexts(tx, found.item_id, found.key, [version, version - 1]);
  const text = texts.get(version);
  const before = texts.get(version - 1);
  if (text !== undefined && text.edits !== null) return text.edits;
  if (text === undefined || (before === undefined && version > 1)) {
    throw fault(
      "RESOURCE_NOT_FOUND",
      `version ${version} of note "${found.key}" is not kept any more, or never was`,
      {
        hint: "Ask for its history with query_notes.",
      },
    );
  }
  return editsBetween(before?.body ?? "", text.body);
}
