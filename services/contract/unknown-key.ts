/** Tells where a key that is not accepted where it was found may belong. */
import type { JsonSchema } from "./json-schema.ts";

interface Place {
  /** Path of the object, `""` for the top level, `claims[].selector` within arrays. */
  readonly object: string;
  readonly name: string;
}

/** Keys that are asked for often and have no place: what to do instead. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ["manage_items.role", "items start in queue, and their role changes only through advance_item"],
  ["manage_items.previousRole", "it is set by the server"],
  ["query_items.query", "text search is not available; filter by tags, type, role, parentId or ancestorId"],
  ["query_items.scope", "pass ancestorId, tags and role at the top level"],
  ["claim_item.limit", "one call claims one item"],
]);

function placesOf(schema: JsonSchema, object: string): Place[] {
  if (schema.items !== undefined) return placesOf(schema.items, `${object}[]`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    { object, name },
    ...placesOf(field, object === "" ? name : `${object}.${name}`),
  ]);
}

/** `["claims", 0, "selector"]` as the place `claims[].selector`. */
function objectAt(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[]`;
    return text === "" ? String(part) : `${text}.${String(part)}`;
  }, "");
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/** `item`, `item_id` and `itemid` all say `itemId`. */
function sameWord(key: string, name: string): boolean {
  const word = plain(key);
  return [word, `${word}id`, `${word}ids`].includes(plain(name));
}

/** `ttl` is short for `ttlSeconds`. */
function beginsLike(key: string, name: string): boolean {
  const word = plain(key);
  return word.length > 2 && plain(name).startsWith(word);
}

/** Edits needed to turn one word into the other (Levenshtein). */
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const swap = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}

function closest(key: string, places: readonly Place[]): Place | undefined {
  const word = plain(key);
  // Long keys are noise, and comparing them would cost the square of their length.
  if (word.length === 0 || word.length > 40) return undefined;
  let best: { place: Place; edits: number } | undefined;
  for (const place of places) {
    const edits = distance(word, plain(place.name));
    if (edits <= Math.max(1, Math.floor(word.length / 3)) && edits < (best?.edits ?? 3))
      best = { place, edits };
  }
  return best?.place;
}

/** The name that was probably meant, if one of them is only a slip away. */
export function nearestName(key: string, names: readonly string[]): string | undefined {
  const same = names.find((name) => sameWord(key, name));
  if (same !== undefined) return same;
  return closest(
    key,
    names.map((name) => ({ object: "", name })),
  )?.name;
}

function placeName(place: Place): string {
  return place.object === "" ? "the top level" : place.object;
}

/** One sentence on an unknown key: its best place, its likely spelling, or what is accepted there. */
export function unknownKeyFault(
  operation: string,
  schema: JsonSchema,
  path: readonly PropertyKey[],
  key: string,
): string {
  const shown = `unknown key "${key.slice(0, 60)}"`;
  const instead = INSTEAD.get(`${operation}.${key}`);
  if (instead !== undefined) return `${shown}: ${instead}`;
  const places = placesOf(schema, "");
  const object = objectAt(path);
  const here = places.filter((place) => place.object === object);
  const same = here.find((place) => sameWord(key, place.name));
  if (same !== undefined) return `${shown}: did you mean "${same.name}"?`;
  const elsewhere = places.filter((place) => place.name === key);
  if (elsewhere.length > 0)
    return `${shown}: it belongs into ${elsewhere.slice(0, 3).map(placeName).join(" or ")}`;
  const near = closest(key, here) ?? here.find((place) => beginsLike(key, place.name));
  if (near !== undefined) return `${shown}: did you mean "${near.name}"?`;
  const far = closest(key, places);
  if (far !== undefined) return `${shown}: did you mean "${far.name}" in ${placeName(far)}?`;
  const accepted = here.slice(0, 20).map((place) => place.name);
  return `${shown}: accepted here are ${accepted.join(", ")}${here.length > accepted.length ? ", …" : ""}`;
}
