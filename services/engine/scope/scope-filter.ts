/** The scope of a caller as lists and choices filter by it. */
import type { SelectorFilter } from "../../../db/stores/readiness-sql.ts";
import type { Looker } from "../access.ts";

/**
 * Whoever sees everything filters by nothing: the statements, and so their plans, are those
 * of an installation without scopes.
 */
export function scopeFilter({ access: { scope } }: Looker): Pick<SelectorFilter, "scope"> {
  return scope === null ? {} : { scope: [...new Set(scope)].toSorted() };
}

/** True of an item that stands for a root to this caller: whatever lies below it is said to be of it. */
export function isTopOf({ access: { scope } }: Looker, id: string): boolean {
  return scope !== null && scope.includes(id);
}

/**
 * The filter of a choice. Whoever sees one subtree and asks for no other asks for that one: a
 * choice within a subtree knows indexes that one among several does not.
 */
export function withinScope(filter: SelectorFilter, looker: Looker): SelectorFilter {
  const { scope } = scopeFilter(looker);
  if (scope === undefined) return filter;
  const [only, ...others] = scope;
  return only !== undefined && others.length === 0 && filter.ancestorId === undefined
    ? { ...filter, ancestorId: only }
    : { ...filter, scope };
}
