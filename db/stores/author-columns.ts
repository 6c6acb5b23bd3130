/** Who wrote a row, as its columns hold it. */
import type { Author } from "../../services/core/world.ts";

/** Values for the columns of the agent, the actor and the verification, in this order; the latter two are `jsonb`. */
export function authorValues(author: Author): [string | null, string | null, string | null] {
  return [author.agent, jsonOrNull(author.actor), jsonOrNull(author.verification)];
}

/** The text of one of the latter two. */
export function jsonOrNull(value: Readonly<Record<string, unknown>> | null): string | null {
  return value === null ? null : JSON.stringify(value);
}
