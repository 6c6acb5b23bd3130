/** How far the required notes of an item's phase are, and which one is next. */
import type { Role } from "../roles.ts";
import type { ItemSchema, NoteSpec, Phase } from "./item-schema.ts";

export interface NoteProgress {
  readonly filled: number;
  readonly remaining: number;
  readonly total: number;
  /** The first that is still to be written. */
  readonly next: NoteSpec | null;
}

/** The phase that an item is in, a blocked one in the phase that it goes on with; null for a closed one. */
export function phaseOf(item: { readonly role: Role; readonly previousRole: Phase | null }): Phase | null {
  if (item.role === "terminal") return null;
  return item.role === "blocked" ? item.previousRole : item.role;
}

/** @param filled keys of the notes that say something */
export function noteProgress(
  schema: ItemSchema,
  phase: Phase,
  filled: { has(key: string): boolean },
): NoteProgress {
  const required = schema.notes.filter((note) => note.required && note.role === phase);
  const open = required.filter((note) => !filled.has(note.key));
  return {
    filled: required.length - open.length,
    remaining: open.length,
    total: required.length,
    next: open[0] ?? null,
  };
}
