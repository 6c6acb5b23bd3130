/** Creating and replacing notes, each by itself. */
import { findNote } from "../../../db/stores/note-store.ts";
import type { NoteUpsert, UpsertNotes, WriteNotesOutput } from "../../contract/operations/manage-notes.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { requireItem } from "../resolve-items.ts";
import { readBodyFile } from "../texts/body-file.ts";
import { requireVersion } from "../texts/edit-faults.ts";
import type { WriteCall } from "../writing/write-call.ts";
import { toWrittenNote } from "./note-answers.ts";
import { callOf, onItem } from "./note-scene.ts";
import { normalizeBody, writeNotes } from "./write-notes.ts";
import { writeEach } from "./write-each.ts";
import type { Looker } from "../access.ts";

export async function upsertNotes(
  deps: EngineDeps,
  call: WriteCall,
  input: UpsertNotes,
  caller: Caller,
): Promise<WriteNotesOutput> {
  const { written, ...rest } = await writeEach(deps, input.notes, async (note, index) =>
    upsertOne(deps, callOf(call, note.actor, input.workerId, caller), note, index, caller),
  );
  return { notes: written, upserted: written.length, ...rest };
}

async function upsertOne(deps: EngineDeps, call: WriteCall, note: NoteUpsert, index: number, caller: Looker) {
  const itemId = await requireItem(deps.db, note.itemId, caller);
  const { key, role } = note;
  // Before the transaction, which must not wait for a disk; thrown inside, where a retry finds its answer first.
  const read = await bodyOf(deps, note).then(
    (body) => () => body,
    (error: unknown) => () => {
      throw error;
    },
  );
  return await onItem(deps, call, `n${index}`, { itemId, fence: note.fence ?? null }, async (scene) => {
    const { tx, item, schemas } = scene;
    const body = read();
    if (note.expectedVersion !== undefined) {
      const found = await findNote(tx, itemId, key);
      requireVersion(note.expectedVersion, found?.version ?? 0, found?.modified_at ?? null, `note "${key}"`);
    }
    const [outcome] = await writeNotes(tx, schemas, [{ item, key, role, body, index }], call.author);
    if (outcome === undefined) throw new Error("writing a note has no outcome");
    if (!outcome.ok) throw outcome.error;
    scene.wrote(outcome);
    return toWrittenNote(outcome.note, body);
  });
}

async function bodyOf(deps: EngineDeps, { body, bodyFromFile }: NoteUpsert): Promise<string> {
  const text = bodyFromFile === null ? body : await readBodyFile(deps.settings.filesDir, bodyFromFile);
  return normalizeBody(text ?? "");
}
