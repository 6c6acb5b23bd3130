/**
 * Notes that come with a transition: judged before it, so that its gate sees them, and written
 * after it, so that a refusal leaves none behind. All of it is one transaction.
 */
import type { Handle } from "../../../db/statement.ts";
import { fault, type MusterError } from "../../contract/errors.ts";
import type { FilledNotes } from "../../core/schemas/note-gate.ts";
import type { World } from "../../core/world.ts";
import type { Schemas } from "../config/schema-source.ts";
import { refusalOf, writeNotes } from "../notes/write-notes.ts";
import type { TransitionCall } from "./transition-call.ts";

/** Lays the notes of a call on its item for the decision; what is wrong with one of them stands against all of it. */
export function bringNotes(world: World, { request, notes }: TransitionCall): MusterError | null {
  const item = world.find(request.itemId);
  if (item === undefined || notes.length === 0) return null;
  const schema = world.schemaOf(item);
  const keys = new Set<string>();
  for (const [index, note] of notes.entries()) {
    if (keys.has(note.key))
      return fault("validation_failed", `note ${index} "${note.key}" is there twice; send it once`);
    keys.add(note.key);
    const error = refusalOf(note, index, schema);
    if (error !== null) return error;
  }
  const { agent, session } = request.by;
  const filled: FilledNotes = new Map(
    notes
      .filter(({ body }) => body.trim() !== "")
      .map(({ key, role }) => [key, { role, agent, session, verifiedAs: null }]),
  );
  world.bringNotes(item.id, filled);
  return null;
}

/**
 * Writes the notes of the transitions that applied.
 * @returns true if one of them opened the start of its item
 */
export async function writeBroughtNotes(
  tx: Handle,
  world: World,
  calls: readonly TransitionCall[],
): Promise<boolean> {
  const schemas: Schemas = {
    of: ({ rootId, ...item }) => world.schemaOf({ id: "", rootId: rootId ?? "", ...item }),
  };
  const entries = calls.flatMap(({ request, notes }) =>
    notes.map((note) => ({ ...note, item: world.get(request.itemId), author: request.by })),
  );
  const [first] = entries;
  if (first === undefined) return false;
  const outcomes = await writeNotes(tx, schemas, entries, first.author);
  let opens = false;
  for (const outcome of outcomes) {
    if (!outcome.ok) throw outcome.error;
    world.events.push(outcome.event);
    opens ||= outcome.note.opensStart;
  }
  return opens;
}
