/** Merging as JSON Merge Patch does it (RFC 7396). */

type Fields = Readonly<Record<string, unknown>>;

/**
 * The target with the patch in it: objects are merged key by key at every depth, null removes
 * a key, and anything else takes the place of what was there.
 */
export function mergePatch(target: Fields | null, patch: Fields): Record<string, unknown> {
  const merged = new Map<string, unknown>(Object.entries(target ?? {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, isObject(value) ? mergePatch(objectOf(merged.get(key)), value) : value);
  }
  return Object.fromEntries(merged);
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectOf(value: unknown): Fields | null {
  return isObject(value) ? value : null;
}
