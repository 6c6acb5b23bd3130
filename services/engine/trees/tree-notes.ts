/**
 * The notes of a tree: those of the call, those that sections of the plan fill, and blank ones
 * where the schemas expect some. What says something is never blanked: on an item that was
 * there before, only keys that are missing get a blank note.
 */
import { fault, type MusterError } from "../../contract/errors.ts";
import { TREE_NOTES_MAX } from "../../contract/limits.ts";
import type { CreateWorkTreeInput } from "../../contract/operations/create-work-tree.ts";
import type { ItemSchema, Phase } from "../../core/schemas/item-schema.ts";
import { ROOT_REF } from "../../core/trees/tree-shape.ts";
import type { OpenedDocument } from "./open-document.ts";
import type { PlacedTree, TreeMember } from "./place-tree.ts";

export interface TreeNoteEntry {
  readonly itemRef: string;
  readonly key: string;
  readonly role: Phase;
  readonly body: string;
  /** Its position in the list that it comes from. */
  readonly index: number;
  /** Where it stands in the call; a blank one stands nowhere. */
  readonly path: string;
}

export interface TreeNotes {
  readonly entries: readonly TreeNoteEntry[];
  /** Keys that say something, by ref. */
  readonly filledOf: (ref: string) => ReadonlySet<string>;
  /** Keys that there are, by ref. */
  readonly keysOf: (ref: string) => ReadonlySet<string>;
}

export interface NoteSources {
  readonly schemaOf: (item: TreeMember) => ItemSchema;
  /** Keys that the item at the top has already. */
  readonly existing: ReadonlySet<string>;
  readonly document: OpenedDocument | null;
}

export function treeNotes(input: CreateWorkTreeInput, tree: PlacedTree, sources: NoteSources): TreeNotes {
  const entries: TreeNoteEntry[] = [];
  const keys = new Map<string, Set<string>>([[ROOT_REF, new Set(sources.existing)]]);
  const keysOf = (ref: string): Set<string> => {
    const known = keys.get(ref) ?? new Set();
    keys.set(ref, known);
    return known;
  };
  const given = new Map<string, string>();
  const give = (entry: TreeNoteEntry): void => {
    const place = JSON.stringify([entry.itemRef, entry.key]);
    const other = given.get(place);
    if (other !== undefined)
      throw fault("VALIDATION_ERROR", `${entry.path}: ${other} writes "${entry.key}" as well; keep one`);
    given.set(place, entry.path);
    const isThere = keysOf(entry.itemRef).has(entry.key);
    keysOf(entry.itemRef).add(entry.key);
    if (isThere && entry.body.trim() === "") return;
    entries.push(entry);
  };
  for (const [index, { itemRef, key, role, body }] of input.notes.entries())
    give({ itemRef, key, role, body: body ?? "", index, path: `notes[${index}]` });
  for (const member of tree.members) for (const entry of anchored(member, sources.document)) give(entry);
  if (input.createNotes) {
    for (const member of tree.members)
      for (const { key, role } of sources.schemaOf(member).notes)
        if (!keysOf(member.ref).has(key))
          give({ itemRef: member.ref, key, role, body: "", index: 0, path: "createNotes" });
  }
  if (entries.length > TREE_NOTES_MAX)
    throw fault("limit_exceeded", `the tree would have ${entries.length} notes; at most ${TREE_NOTES_MAX}`);
  const filled = Map.groupBy(
    entries.filter(({ body }) => body.trim() !== ""),
    ({ itemRef }) => itemRef,
  );
  return {
    entries,
    filledOf: (ref) => new Set(filled.get(ref)?.map(({ key }) => key)),
    keysOf,
  };
}

/** How many headings a message names. */
const ANCHORS_SHOWN = 30;

function anchored({ ref, anchors, path }: TreeMember, document: OpenedDocument | null): TreeNoteEntry[] {
  return anchors.map(({ noteKey, role, anchor }, index) => {
    const place = `${path}.noteAnchors[${index}]`;
    const body = document?.section(anchor) ?? null;
    if (body === null) {
      const known = document?.anchors ?? [];
      throw fault("VALIDATION_ERROR", `${place}: the plan has no heading with the anchor "${anchor}"`, {
        details: { anchor, anchors: known.slice(0, ANCHORS_SHOWN) },
        hint: `Its headings are ${known.slice(0, ANCHORS_SHOWN).join(", ") || "none"}.`,
      });
    }
    return { itemRef: ref, key: noteKey, role, body, index, path: place };
  });
}

/** A note that its item's schema does not take, as the whole call is refused for it. */
export function refusedNote({ path, itemRef }: TreeNoteEntry, error: MusterError): MusterError {
  if (error.code !== "validation_failed") return error;
  return fault("VALIDATION_ERROR", `${path} of "${itemRef}": ${error.message}`, {
    ...(error.details === undefined ? {} : { details: error.details }),
    ...(error.hint === undefined ? {} : { hint: error.hint }),
  });
}
