/**
 * Where use cases get the schemas of items from. They load them once in their transaction,
 * for the roots that they touch, and then ask as often as they like without waiting.
 */
import type { Handle } from "../../../db/statement.ts";
import { type ItemSchema, SCHEMA_FREE } from "../../core/schemas/item-schema.ts";

/** What an item's schema follows from; every `ItemState` has it. */
export interface SchemaKey {
  readonly rootId: string;
  readonly type: string | null;
  readonly tags: readonly string[];
  readonly traits: readonly string[];
}

export interface Schemas {
  /** @throws Error for an item of a root that they were not loaded for */
  of(item: SchemaKey): ItemSchema;
}

export interface SchemaSource {
  /**
   * What is configured for these roots as of now, in one statement: texts that were seen before
   * are not read again.
   *
   * @throws MusterError `config_unavailable` if a project's text cannot be read and none that
   *   could be is known: gates never open because something is broken
   */
  load(handle: Handle, rootIds: readonly string[]): Promise<Schemas>;
}

/** Nothing is configured anywhere. */
export const schemaFree: SchemaSource = {
  load: () => Promise.resolve({ of: () => SCHEMA_FREE }),
};
