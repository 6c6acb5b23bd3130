/** What a selector asks for, with its defaults made explicit. */
import type { Ranking, SelectorFilter } from "../../../db/stores/readiness-sql.ts";
import type { Handle } from "../../../db/statement.ts";
import type { Selector } from "../../contract/filters.ts";
import { defaultRoles, type Offer } from "../../core/readiness.ts";
import { withinScope } from "../scope/scope-filter.ts";
import { requireItem } from "../resolve-items.ts";
import type { Looker } from "../access.ts";

export interface Predicate extends Offer {
  readonly filter: SelectorFilter;
  readonly ranking: Ranking;
  readonly capabilities: readonly string[];
  /** Equal for equal predicates: only such calls may share a selection. */
  readonly key: string;
}

/**
 * Resolves a selector. `start` implies that only startable items are offered, and lets
 * stalled work be taken up before new work.
 */
export async function toPredicate(
  handle: Handle,
  selector: Selector,
  start: boolean,
  capabilities: readonly string[],
  caller: Looker,
): Promise<Predicate> {
  const { role, orderBy, containers, startable, parentId, ancestorId, ...rest } = selector;
  const filter: SelectorFilter = {
    ...rest,
    ...(parentId === undefined ? {} : { parentId: await requireItem(handle, parentId, caller) }),
    ...(ancestorId === undefined ? {} : { ancestorId: await requireItem(handle, ancestorId, caller) }),
  };
  const predicate = {
    filter: withinScope(filter, caller),
    roles: role ?? defaultRoles(start),
    // Naming a type is asking for that type, containers included.
    containers: containers || selector.type !== undefined,
    startable: startable || start,
    ranking: orderBy,
    capabilities: [...capabilities].toSorted(),
  };
  return { ...predicate, key: JSON.stringify(predicate) };
}
