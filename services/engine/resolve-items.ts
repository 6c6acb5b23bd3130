/**
 * Full ids and id prefixes. A prefix that fits several items changes nothing and lists them.
 *
 * The only place where a reference becomes an id, and it takes the caller: an item outside the
 * caller's scope neither is found by a prefix nor makes one ambiguous. Full ids outside never
 * come this far, see `scope/veil.ts`.
 */
import { findByPrefix } from "../../db/stores/item-store.ts";
import { findVisibleByPrefix } from "../../db/stores/scope-store.ts";
import type { Handle } from "../../db/statement.ts";
import { fault, type MusterError } from "../contract/errors.ts";
import { isFullId } from "../contract/fields.ts";
import { ID_MATCHES_MAX } from "../contract/limits.ts";
import type { Looker } from "./access.ts";

export type ResolvedItem =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly error: MusterError };

/** A full id is taken as it is, whether or not the item exists: the decision finds out under its lock. */
export async function resolveItem(handle: Handle, ref: string, { access }: Looker): Promise<ResolvedItem> {
  if (isFullId(ref)) return { ok: true, id: ref };
  const { scope } = access;
  const matches =
    scope === null ? await findByPrefix(handle, ref) : await findVisibleByPrefix(handle, ref, scope);
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
export async function requireItem(handle: Handle, ref: string, looker: Looker): Promise<string> {
  const resolved = await resolveItem(handle, ref, looker);
  if (!resolved.ok) throw resolved.error;
  return resolved.id;
}
