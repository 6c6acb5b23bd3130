/**
 * What an item's state says of its start and of its review, so that offers can be filtered by
 * it: a copy of what the schema and the notes decide, kept by everybody who changes one of them.
 */
import type { ItemSchema, NoteSpec, ResourceSpec } from "./item-schema.ts";

export interface StartCopies {
  /** Every note that leaving the queue asks for is there. */
  readonly startGateOpen: boolean;
  /** What entering work takes, as far as others can stand in the way; null: nothing. */
  readonly resources: readonly BlockingResource[] | null;
  /** Agents whose review would be refused, since they wrote what it must be independent of; null: nobody. */
  readonly reviewExcludes: readonly string[] | null;
}

export interface BlockingResource extends Pick<ResourceSpec, "key" | "capacity"> {
  readonly mode: "exclusive" | "shared";
}

/** @param filled the agent who wrote it, by key, of every note that says something */
export function startCopies(schema: ItemSchema, filled: ReadonlyMap<string, string | null>): StartCopies {
  const missing = schema.notes.some((note) => opensStart(note) && !filled.has(note.key));
  const resources = schema.resources.flatMap(({ key, mode, capacity }) =>
    mode === "advisory" ? [] : [{ key, mode, capacity }],
  );
  const apart = seatsApartFromReview(schema);
  const authors = schema.notes.flatMap(({ key, seat }) =>
    seat !== null && apart.has(seat) ? (filled.get(key) ?? []) : [],
  );
  return {
    startGateOpen: !missing,
    resources: resources.length === 0 ? null : resources,
    reviewExcludes: authors.length === 0 ? null : [...new Set(authors)].toSorted(),
  };
}

/** True if the copies may change when the note of this key is written or deleted. */
export function concernsCopies(schema: ItemSchema, key: string): boolean {
  const note = schema.notes.find((one) => one.key === key);
  if (note === undefined) return false;
  return opensStart(note) || (note.seat !== null && seatsApartFromReview(schema).has(note.seat));
}

const opensStart = ({ role, required }: NoteSpec): boolean => required && role === "queue";

/** Seats that a note of the review may not share an author with; where that is only warned of, everybody may review. */
function seatsApartFromReview(schema: ItemSchema): ReadonlySet<string> {
  if (schema.independence !== "reject") return new Set();
  return new Set(schema.notes.flatMap(({ role, independentOf }) => (role === "review" ? independentOf : [])));
}
