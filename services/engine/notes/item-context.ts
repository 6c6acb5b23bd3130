/** What is left to write before an item can go on: told with every write, so that nobody has to ask. */
import { findSchemaSubjects } from "../../../db/stores/note-read-store.ts";
import { filledNotes } from "../../../db/stores/note-store.ts";
import type { ItemContext } from "../../contract/operations/manage-notes.ts";
import { noteProgress, phaseOf } from "../../core/schemas/note-progress.ts";
import type { EngineDeps } from "../deps.ts";

/** By item, for items that exist. */
export async function readItemContexts(
  deps: EngineDeps,
  itemIds: readonly string[],
): Promise<Record<string, ItemContext>> {
  if (itemIds.length === 0) return {};
  const subjects = await findSchemaSubjects(deps.db, itemIds);
  const schemas = await deps.schemas.load(deps.db, [...new Set(subjects.map((one) => one.rootId))]);
  const filled = await filledNotes(deps.db, itemIds);
  const contexts = subjects.map((one): [string, ItemContext] => {
    const schema = schemas.of(one);
    const phase = phaseOf(one);
    if (!schema.matched || phase === null) return [one.id, { guidancePointer: null, noteProgress: null }];
    const progress = noteProgress(schema, phase, filled.get(one.id) ?? new Map());
    const { next, ...counts } = progress;
    return [
      one.id,
      {
        guidancePointer: next?.guidance ?? null,
        ...(next === null || next.skill === null ? {} : { skillPointer: next.skill }),
        noteProgress: counts,
      },
    ];
  });
  return Object.fromEntries(contexts);
}
