/** Where items come from: another database, read row by row. Values are as they lie there; nothing is trusted. */

export type SourceRow = Readonly<Record<string, unknown>>;

export interface Unplaced {
  readonly id: unknown;
  readonly reason: string;
}

export interface ImportSource {
  /** Rows per table, and of tables that are not brought over. */
  counts(): ReadonlyMap<string, number>;
  /** Those that hang on a root, parents before children. */
  items(): Iterable<SourceRow>;
  /** Those that do not. */
  unplacedItems(): Iterable<Unplaced>;
  notesOf(itemId: string): Iterable<SourceRow>;
  /** Oldest first. */
  transitionsOf(itemId: string): Iterable<SourceRow>;
  /** Oldest first. */
  dependencies(): Iterable<SourceRow>;
  configs(): Iterable<SourceRow>;
  plans(): Iterable<SourceRow>;
  /** Rows of a table that hang on an item which does not exist. */
  orphans(table: "notes" | "role_transitions"): Iterable<Unplaced>;
}
