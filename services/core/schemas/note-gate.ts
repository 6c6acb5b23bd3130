/**
 * What an item's notes say against a move: required ones that are missing, and ones whose
 * author may not have written them. Advance, cascades and previews ask this one function.
 *
 * A move forward asks for the notes of the phase it leaves; closing asks for those of every
 * phase, so that a note that was deleted after its phase was left is missed in the end.
 * Cancelling, blocking and going back ask for nothing.
 */
import type { Role } from "../roles.ts";
import { type ItemSchema, type NoteSpec, type Phase, PHASES } from "./item-schema.ts";

/** A note that says something, and who wrote it last. */
export interface FilledNote {
  readonly role: string;
  readonly agent: string | null;
  readonly session: string | null;
  /** The verified identity of its author; null if it was not verified. */
  readonly verifiedAs: string | null;
}

export type FilledNotes = ReadonlyMap<string, FilledNote>;

/** Says nothing about who: only that two seats that must be apart are not. */
export interface IndependenceFinding {
  readonly key: string;
  readonly seat: string | null;
  readonly constraint: "same_actor" | "missing_actor" | "unverified";
  readonly conflictingSeat: string | null;
}

export interface NoteObstacle {
  readonly missing: readonly NoteSpec[];
  readonly findings: readonly IndependenceFinding[];
}

/** The phases whose notes a move asks for. */
export function phasesAsked(from: Role, to: Role, cancels: boolean): readonly Phase[] {
  if (cancels || from === "blocked" || from === "terminal" || to === "blocked") return [];
  if (to === "terminal") return PHASES;
  return PHASES.indexOf(from) < PHASES.indexOf(to) ? [from] : [];
}

/** True if the notes have to be looked at to know. */
export function asksForNotes(schema: ItemSchema, phases: readonly Phase[]): boolean {
  return schema.notes.some(
    (note) => phases.includes(note.role) && (note.required || note.independentOf.length > 0),
  );
}

/** What stands against the move; null: nothing. Findings count only where the schema says `reject`. */
export function judgeNotes(
  schema: ItemSchema,
  phases: readonly Phase[],
  filled: FilledNotes,
): NoteObstacle | null {
  const missing = schema.notes.filter(
    (note) => note.required && phases.includes(note.role) && !filled.has(note.key),
  );
  const findings = schema.independence === "reject" ? findDependent(schema, phases, filled) : [];
  return missing.length + findings.length === 0 ? null : { missing, findings };
}

/** Notes whose author also wrote for a seat that they must be independent of. */
export function findDependent(
  schema: ItemSchema,
  phases: readonly Phase[],
  filled: FilledNotes,
): IndependenceFinding[] {
  if (schema.independence === "off") return [];
  return schema.notes.flatMap((note) => {
    const own = filled.get(note.key);
    if (own === undefined || !phases.includes(note.role)) return [];
    return note.independentOf.flatMap((seat) => dependenceOn(schema, note, own, seat, filled));
  });
}

function dependenceOn(
  schema: ItemSchema,
  note: NoteSpec,
  own: FilledNote,
  seat: string,
  filled: FilledNotes,
): IndependenceFinding[] {
  const finding = { key: note.key, seat: note.seat, conflictingSeat: seat };
  const others = schema.notes
    .filter((one) => one.seat === seat && one.key !== note.key)
    .flatMap((one) => filled.get(one.key) ?? []);
  if (others.length === 0) return [];
  const authors = [own, ...others];
  // Nobody can be told apart from somebody who gave no name.
  if (authors.some((one) => one.agent === null)) return [{ ...finding, constraint: "missing_actor" }];
  if (others.some((one) => one.agent === own.agent)) return [{ ...finding, constraint: "same_actor" }];
  if (schema.requireVerified && authors.some((one) => one.verifiedAs === null))
    return [{ ...finding, constraint: "unverified" }];
  return [];
}
