/** What is left to write before an item can go on: told with every write, so that nobody has to ask. */
import { findSchemaSubjects } from "../../../db/stores/note-read-store.ts";
import { filledNotes } from "../../../db/stores/note-store.ts";
import type { ItemContext } from "../../contract/operations/manage-notes.ts";
import { noteProgress, phaseOf } from "../../core/schemas/note-progress.ts";
import { clipText } from "../../core/texts/clip-text.ts";
import type { EngineDeps } from "../deps.ts";

/** Of one answer: many items share it, so that no schema can fill a model's context. */
const GUIDANCE_LENGTH_MAX = 32_000;
const GUIDANCE_LENGTH_MIN = 200;

/** By item, for items that exist. */
export async function readItemContexts(
  deps: EngineDeps,
  itemIds: readonly string[],
): Promise<Record<string, ItemContext>> {
  if (itemIds.length === 0) return {};
  const subjects = await findSchemaSubjects(deps.db, itemIds);
  const schemas = await deps.schemas.load(deps.db, [...new Set(subjects.map((one) => one.rootId))]);
  const filled = await filledNotes(deps.db, itemIds);
  const room = Math.max(GUIDANCE_LENGTH_MIN, Math.floor(GUIDANCE_LENGTH_MAX / subjects.length));
  const contexts = subjects.map((one): [string, ItemContext] => {
    const schema = schemas.of(one);
    const phase = phaseOf(one);
    if (!schema.matched || phase === null) return [one.id, { guidancePointer: null, noteProgress: null }];
    const progress = noteProgress(schema, phase, filled.get(one.id) ?? new Map());
    const { next, ...counts } = progress;
    return [
      one.id,
      {
        guidancePointer: next === null || next.guidance === null ? null : clipText(next.guidance, room),
        ...(next === null || next.skill === null ? {} : { skillPointer: next.skill }),
        noteProgress: counts,
      },
    ];
  });
  return Object.fromEntries(contexts);
}
