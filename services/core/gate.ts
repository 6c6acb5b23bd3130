/** The note gate over the working set: what stands against a move of an item. */
import type { Role } from "./roles.ts";
import {
  asksForNotes,
  findDependent,
  type IndependenceFinding,
  judgeNotes,
  type NoteObstacle,
  phasesAsked,
} from "./schemas/note-gate.ts";
import type { ItemState } from "./state.ts";
import type { World } from "./world.ts";

/** Null: the notes let it pass. Notes are looked at only where the schema asks for some. */
export function judgeGate(world: World, item: ItemState, to: Role, cancels: boolean): NoteObstacle | null {
  const phases = phasesAsked(item.role, to, cancels);
  if (phases.length === 0) return null;
  const schema = world.schemaOf(item);
  return asksForNotes(schema, phases) ? judgeNotes(schema, phases, world.notesOf(item.id)) : null;
}

/** What a move that was let pass has against it all the same, for whoever looks after it. */
export function gateFindings(
  world: World,
  item: ItemState,
  to: Role,
  cancels: boolean,
): readonly IndependenceFinding[] {
  const phases = phasesAsked(item.role, to, cancels);
  const schema = phases.length === 0 ? null : world.schemaOf(item);
  if (schema === null || schema.independence !== "warn" || !asksForNotes(schema, phases)) return [];
  return findDependent(schema, phases, world.notesOf(item.id));
}
