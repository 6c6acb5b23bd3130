/** Deleting notes: each reference by itself. What they said stays in the item's history. */
import { deleteNotes as deleteRows, type DeletedNoteRow } from "../../../db/stores/note-store.ts";
import { findNotePlaces } from "../../../db/stores/note-read-store.ts";
import type {
  DeleteNotes,
  DeleteNotesOutput,
  NoteDeletion,
  NoteFailure,
} from "../../contract/operations/manage-notes.ts";
import type { EngineDeps } from "../deps.ts";
import { requireItem } from "../resolve-items.ts";
import type { Answered, WriteCall } from "../writing/write-call.ts";
import { toFailure } from "./note-answers.ts";
import { type NoteScene, onItem } from "./note-scene.ts";
import { refreshStarts } from "./write-notes.ts";
import type { Looker } from "../access.ts";

/** What a caller named: a note by its id, or what an item has under a key or at all. */
interface Reference {
  readonly id?: string;
  readonly itemId?: string;
  readonly key?: string;
}

export async function deleteNotes(
  deps: EngineDeps,
  call: WriteCall,
  input: DeleteNotes,
  caller: Looker,
): Promise<DeleteNotesOutput> {
  const results: NoteDeletion[] = [];
  const failures: NoteFailure[] = [];
  let replayed = false;
  for (const [index, reference] of referencesOf(input).entries()) {
    try {
      const done = await deleteOne(deps, call, reference, index, caller);
      replayed ||= done.replayed;
      results.push(done.answer);
    } catch (error) {
      failures.push(toFailure(deps, index, reference.id ?? reference.itemId, error));
      results.push({ ...reference, outcome: "failed", deleted: 0 });
    }
  }
  return {
    deleted: results.reduce((sum, one) => sum + one.deleted, 0),
    notFound: results.filter((one) => one.outcome === "not_found").length,
    failed: failures.length,
    results,
    ...(failures.length === 0 ? {} : { failures }),
    ...(replayed ? { replayed } : {}),
  };
}

function referencesOf({ ids, itemId, key }: DeleteNotes): Reference[] {
  if (itemId === null) return [...new Set(ids)].map((id) => ({ id }));
  return [{ itemId, ...(key === null ? {} : { key }) }];
}

async function deleteOne(
  deps: EngineDeps,
  call: WriteCall,
  reference: Reference,
  index: number,
  caller: Looker,
): Promise<Answered<NoteDeletion>> {
  const { id, itemId, key } = reference;
  if (id === undefined) {
    const item = await requireItem(deps.db, itemId ?? "", caller);
    return await onItem(deps, call, `d${index}`, { itemId: item, fence: null }, async (scene) =>
      answerOf({ ...reference, itemId: item }, await remove(scene, item, key ?? null)),
    );
  }
  const place = (await findNotePlaces(deps.db, [id])).get(id);
  // Not an error, and nothing to remember: the next call with this key may find it.
  if (place === undefined) return { answer: answerOf(reference, []), targetId: null, replayed: false };
  const where = { itemId: place.itemId, fence: null };
  return await onItem(deps, call, `d${index}`, where, async (scene) => {
    const found = await findNotePlaces(scene.tx, [id]);
    const gone = found.has(id) ? await remove(scene, place.itemId, place.key) : [];
    return answerOf({ ...reference, itemId: place.itemId, key: place.key }, gone);
  });
}

async function remove(
  { tx, world, item, schemas }: NoteScene,
  itemId: string,
  key: string | null,
): Promise<DeletedNoteRow[]> {
  const gone = await deleteRows(tx, itemId, key);
  await refreshStarts(
    tx,
    schemas,
    gone.map((note) => ({ item, key: note.key })),
  );
  for (const note of gone) {
    world.events.push({
      type: "note.deleted",
      itemId,
      rootId: item.rootId,
      data: { noteId: note.id, key: note.key, version: note.version },
    });
  }
  return gone;
}

function answerOf(reference: Reference, gone: readonly DeletedNoteRow[]): NoteDeletion {
  // An item without any notes is as it was asked to be; a note that was named and is not there is told.
  const named = reference.id !== undefined || reference.key !== undefined;
  return {
    ...reference,
    outcome: gone.length === 0 && named ? "not_found" : "deleted",
    deleted: gone.length,
  };
}
