/**
 * What an item's state says of its start, so that offers can be filtered by it: a copy of
 * what the schema and the notes decide, kept by everybody who changes one of them.
 */
import type { ItemSchema, ResourceSpec } from "./item-schema.ts";

export interface StartCopies {
  /** Every note that leaving the queue asks for is there. */
  readonly startGateOpen: boolean;
  /** What entering work takes, as far as others can stand in the way; null: nothing. */
  readonly resources: readonly BlockingResource[] | null;
}

export interface BlockingResource extends Pick<ResourceSpec, "key" | "capacity"> {
  readonly mode: "exclusive" | "shared";
}

/** @param filled keys of the notes that say something */
export function startCopies(schema: ItemSchema, filled: { has(key: string): boolean }): StartCopies {
  const missing = schema.notes.some(
    ({ key, role, required }) => required && role === "queue" && !filled.has(key),
  );
  const resources = schema.resources.flatMap(({ key, mode, capacity }) =>
    mode === "advisory" ? [] : [{ key, mode, capacity }],
  );
  return { startGateOpen: !missing, resources: resources.length === 0 ? null : resources };
}
