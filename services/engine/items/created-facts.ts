/** What whoever creates an item is told of its schema: the notes that are expected, by their keys. */
import type { ItemSchema } from "../../core/schemas/item-schema.ts";

export interface ExpectedNote {
  readonly key: string;
  readonly role: string;
  readonly required: boolean;
  readonly exists: boolean;
}

/** @param existing keys of the notes that were written with the item */
export function createdFacts(
  schema: ItemSchema,
  existing: ReadonlySet<string> = new Set(),
): { schemaMatch: boolean; expectedNotes: ExpectedNote[] } {
  return {
    schemaMatch: schema.matched,
    expectedNotes: schema.notes.map(({ key, role, required }) => ({
      key,
      role,
      required,
      exists: existing.has(key),
    })),
  };
}
