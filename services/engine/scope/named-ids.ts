/**
 * Where inputs name what a scope may hide. Listed, and not found by the look of a value: a title
 * that happens to be an id is a title. A test holds this list against the schemas of all operations.
 */
export const NAMING_KEYS: ReadonlySet<string> = new Set([
  "itemId",
  "itemIds",
  "parentId",
  "ancestorId",
  "rootId",
  "rootIds",
  "pinnedRootId",
  "anchorId",
  "attachTo",
  "fromItemId",
  "fromItemIds",
  "toItemId",
  "toItemIds",
  "dependencyId",
  "noteId",
  "trashIds",
  "id",
  "ids",
]);

/** What callers fill as they like, and who they say they are. */
const FREE_KEYS: ReadonlySet<string> = new Set(["actor", "properties", "metadata"]);

/** The input with every id that it names put through `other`; what it does not change is shared with the original. */
export function mapNamedIds(input: unknown, other: (id: string) => string, key = ""): unknown {
  if (typeof input === "string") return NAMING_KEYS.has(key) ? other(input) : input;
  if (Array.isArray(input)) return input.map((part) => mapNamedIds(part, other, key));
  if (typeof input !== "object" || input === null || input instanceof Date) return input;
  return Object.fromEntries(
    Object.entries(input).map(([name, part]) => [
      name,
      FREE_KEYS.has(name) ? part : mapNamedIds(part, other, name),
    ]),
  );
}
