/** Full ids and id prefixes. A prefix that fits several items changes nothing and lists them. */
import { findByPrefix } from "../../db/stores/item-store.ts";
import type { Handle } from "../../db/statement.ts";
import { fault, type MusterError } from "../contract/errors.ts";
import { isFullId } from "../contract/fields.ts";
import { ID_MATCHES_MAX } from "../contract/limits.ts";

export type ResolvedItem =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly error: MusterError };

/** A full id is taken as it is, whether or not the item exists: the decision finds out under its lock. */
export async function resolveItem(handle: Handle, ref: string): Promise<ResolvedItem> {
  if (isFullId(ref)) return { ok: true, id: ref };
  const matches = await findByPrefix(handle, ref);
  const [only, second] = matches;
  if (only !== undefined && second === undefined) return { ok: true, id: only.id };
  if (only === undefined) {
    return { ok: false, error: fault("RESOURCE_NOT_FOUND", `no item has an id that starts with ${ref}`) };
  }
  return {
    ok: false,
    error: fault(
      "ambiguous_id",
      `${matches.length > ID_MATCHES_MAX ? `more than ${ID_MATCHES_MAX}` : matches.length} items have ids that start with ${ref}`,
      {
        details: { prefix: ref, matches: matches.slice(0, ID_MATCHES_MAX) },
      },
    ),
  };
}

/** @throws MusterError if the reference does not name exactly one item. */
export async function requireItem(handle: Handle, ref: string): Promise<string> {
  const resolved = await resolveItem(handle, ref);
  if (!resolved.ok) throw resolved.error;
  return resolved.id;
}
