/**
 * The veil between a caller with a scope and everything that lies outside of it.
 *
 * Going in, every id that names something outside is replaced by one that never existed; the
 * use case then answers as it answers for what does not exist, because to it that is the truth.
 * So the two answers cannot differ in a byte, in whatever operation, nor can a body be read or
 * a lock be taken, and an operation that is added later is covered without a word about scopes.
 * Coming out, the replaced ids are put back, and what the answer names outside is cut.
 *
 * The replacement is made of the id alone: a repeated call has the same fingerprint on any replica.
 * Without a scope nothing of this happens, and no statement is run for it.
 */
import { hash } from "node:crypto";
import type { Handle } from "../../../db/statement.ts";
import { fault, type MusterError } from "../../contract/errors.ts";
import { isFullId } from "../../contract/fields.ts";
import type { Looker } from "../access.ts";
import { asFault } from "../database-fault.ts";
import { cutAnswer, cutSentence, idsInAnswer } from "./cut-answer.ts";
import { mapNamedIds } from "./named-ids.ts";
import { lookAt, replaceIds } from "./sight.ts";

type Answer = Record<string, unknown>;

/** Runs a use case for a caller who sees what lies in its scope, and nothing else. */
export async function behindVeil(
  handle: Handle,
  { access: { scope } }: Looker,
  input: unknown,
  useCase: (input: unknown) => Promise<Answer>,
): Promise<Answer> {
  if (scope === null) return await useCase(input);
  const named = new Set<string>();
  mapNamedIds(input, (id) => {
    if (isFullId(id)) named.add(id);
    return id;
  });
  const sight = await lookAt(handle, [...named], scope);
  const stood = new Map([...named].filter((id) => sight.isHidden(id)).map((id) => [standInFor(id), id]));
  const veiled =
    stood.size === 0 ? input : mapNamedIds(input, (id) => (sight.isHidden(id) ? standInFor(id) : id));
  const shown = (id: string): string => stood.get(id) ?? id;
  try {
    const answer = await useCase(veiled);
    return putBack(cutAnswer(answer, await lookAt(handle, idsInAnswer(answer), scope)), shown);
  } catch (error) {
    throw await shownError(handle, asFault(error), scope, shown);
  }
}

/** An id that nothing has: its version is one that no item gets. */
function standInFor(id: string): string {
  const hex = hash("sha256", `outside the scope: ${id}`);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function putBack<T>(value: T, shown: (id: string) => string): T {
  if (typeof value === "string") return replaceIds(value, shown) as T;
  if (Array.isArray(value)) return value.map((part: unknown) => putBack(part, shown)) as T;
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, putBack(part, shown)])) as T;
}

async function shownError(
  handle: Handle,
  error: MusterError,
  scope: readonly string[],
  shown: (id: string) => string,
): Promise<MusterError> {
  const { message, hint, details } = error;
  const ids = idsInAnswer({ message, hint, details });
  // Nothing to look at, also while the database is away.
  if (ids.length === 0) return error;
  const sight = await lookAt(handle, ids, scope);
  const sentence = (text: string): string => replaceIds(cutSentence(text, sight), shown);
  return fault(error.code, sentence(message), {
    hint: sentence(hint),
    ...(details === undefined ? {} : { details: putBack(cutAnswer(details, sight), shown) }),
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    cause: error.cause ?? error,
  });
}
