/**
 * Takes out of an answer what lies outside the caller's scope. Lists and searches have filtered
 * before they counted; this is for what an answer names beside its subject: blockers, ancestors,
 * what a cascade moved, what a delete set free.
 *
 * An entry about something hidden goes. A count beside the entries stays, so that a refusal can
 * still be understood: it says that something is in the way, and not what.
 */
import { clipText } from "../../core/texts/clip-text.ts";
import { TITLE_SHOWN } from "../queries/explain-reasons.ts";
import { idsNamedIn, replaceIds, type Sight } from "./sight.ts";

/** An object with one of these hidden is about something hidden. */
const SUBJECTS = new Set([
  "id",
  "itemId",
  "fromItemId",
  "toItemId",
  "throughAncestorId",
  "trashId",
  "noteId",
  "dependencyId",
]);
/** Texts that Muster wrote, which may name an item in the middle of a sentence. */
const SENTENCES = new Set([
  "message",
  "error",
  "hint",
  "reason",
  "suggestion",
  "warning",
  "warnings",
  "clearedBy",
]);
/** Told together with an item, and not without it. */
const WITH_ITEM: Readonly<Record<string, readonly string[]>> = { holderItemId: ["acquiredByActorId"] };
/** What callers filled as they liked: nothing in it is Muster's to say. */
const FREE_KEYS = new Set(["actor", "properties", "metadata", "body", "description", "title", "summary"]);

/** Lists whose entries say why: what lies outside is no more named in them, and still a reason. */
const REASONS = "reasons";
const OUTSIDE = "an item outside your scope";
const GONE = Symbol("outside the scope");

/** Ids that an answer names, to be looked at before it is cut. */
export function idsInAnswer(answer: unknown): string[] {
  return idsNamedIn(JSON.stringify(answer) ?? "");
}

export function cutAnswer<T>(answer: T, sight: Sight): T {
  const cut = cutValue(answer, sight, "");
  // An answer whose very subject went out of sight while it was made has nothing left to say.
  return (cut === GONE ? {} : cut) as T;
}

/** Of a sentence by itself, as errors have one. */
export function cutSentence(text: string, sight: Sight): string {
  const unquoted = sight.titles
    // Sentences quote a title as it is, or its beginning where it is long.
    .flatMap((title) => [title, clipText(title, TITLE_SHOWN)])
    .reduce((left, title) => left.replaceAll(`"${title}"`, OUTSIDE), text);
  const unnamed = replaceIds(unquoted, (id) => (sight.isHidden(id) ? OUTSIDE : id));
  return unnamed.replaceAll(`${OUTSIDE} (${OUTSIDE})`, OUTSIDE);
}

function cutValue(value: unknown, sight: Sight, key: string): unknown {
  if (typeof value === "string") {
    if (sight.isHidden(value)) return GONE;
    return SENTENCES.has(key) ? cutSentence(value, sight) : value;
  }
  if (Array.isArray(value))
    return value.map((part) => cutValue(part, sight, key)).filter((part) => part !== GONE);
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  return cutObject(value as Readonly<Record<string, unknown>>, sight, key === REASONS);
}

function cutObject(value: Readonly<Record<string, unknown>>, sight: Sight, isReason: boolean): unknown {
  const entries = Object.entries(value);
  const isHidden = (part: unknown): boolean => typeof part === "string" && sight.isHidden(part);
  if (!isReason && entries.some(([key, part]) => SUBJECTS.has(key) && isHidden(part))) return GONE;
  const without = new Set(entries.flatMap(([key, part]) => (isHidden(part) ? (WITH_ITEM[key] ?? []) : [])));
  const kept: Record<string, unknown> = {};
  for (const [key, part] of entries) {
    if (without.has(key)) continue;
    if (FREE_KEYS.has(key)) kept[key] = part;
    else if (key === "parentId" && isHidden(part)) kept[key] = null;
    else if (key === "rootId" && isHidden(part)) {
      // To whoever sees only a part, the top of that part is where the tree begins.
      const top = topOf(value, sight);
      if (top !== undefined) kept[key] = top;
    } else {
      const cut = cutValue(part, sight, key);
      if (cut !== GONE) kept[key] = cut;
    }
  }
  return kept;
}

function topOf(value: Readonly<Record<string, unknown>>, sight: Sight): string | undefined {
  const own = value["id"] ?? value["itemId"];
  return typeof own === "string" ? (sight.topOf(own) ?? own) : undefined;
}
