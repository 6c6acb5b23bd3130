/**
 * Where an input names its actors: `actor` of the call, and `actor` of the elements of its
 * lists. The same for every operation, so that one that is added is behind the gate as well.
 */
import type { StatedActor } from "../identity.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Every actor object of the input, in order. */
export function actorsOf(input: unknown): StatedActor[] {
  if (!isFields(input)) return [];
  const found = isActor(input["actor"]) ? [input["actor"]] : [];
  for (const list of listsOf(input)) {
    for (const element of list) {
      if (isFields(element) && isActor(element["actor"])) found.push(element["actor"]);
    }
  }
  return found;
}

/** Whether nothing that the call does is left without a name: that of the call, or each element's own. */
export function namesEverybody(input: unknown): boolean {
  if (!isFields(input)) return false;
  if (isActor(input["actor"])) return true;
  const lists = listsOf(input).filter((list) => list.some(hasActor));
  return lists.length > 0 && lists.every((list) => list.every(hasActor));
}

/** The input with other actors in place of those that were found; nothing else is changed. */
export function replaceActors(input: unknown, known: ReadonlyMap<StatedActor, StatedActor>): unknown {
  if (!isFields(input)) return input;
  const changed = Object.entries(input).map(([name, value]): [string, unknown] => {
    if (name === "actor") return [name, replaced(value, known)];
    if (!Array.isArray(value) || !value.some(hasActor)) return [name, value];
    return [
      name,
      value.map((element: unknown) =>
        isFields(element) && hasActor(element)
          ? { ...element, actor: replaced(element["actor"], known) }
          : element,
      ),
    ];
  });
  return Object.fromEntries(changed);
}

function replaced(value: unknown, known: ReadonlyMap<StatedActor, StatedActor>): unknown {
  return isActor(value) ? (known.get(value) ?? value) : value;
}

function listsOf(input: Fields): unknown[][] {
  return Object.values(input).filter((value) => Array.isArray(value));
}

function hasActor(element: unknown): boolean {
  return isFields(element) && isActor(element["actor"]);
}

function isActor(value: unknown): value is StatedActor {
  return isFields(value) && typeof value["id"] === "string" && typeof value["kind"] === "string";
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
