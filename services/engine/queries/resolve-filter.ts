/** The filter that lists have in common, with its references resolved. */
import type { SelectorFilter } from "../../../db/stores/readiness-sql.ts";
import type { Handle } from "../../../db/statement.ts";
import type { Looker } from "../access.ts";
import { withinScope } from "../scope/scope-filter.ts";
import { requireItem } from "../resolve-items.ts";

export interface StatedFilter extends Omit<SelectorFilter, "rootId"> {
  readonly parentId?: string | undefined;
  readonly ancestorId?: string | undefined;
}

/** @throws MusterError if a reference does not name exactly one item. */
export async function resolveFilter(
  handle: Handle,
  stated: StatedFilter,
  caller: Looker,
): Promise<SelectorFilter> {
  const { parentId, ancestorId } = stated;
  const filter = {
    tags: stated.tags,
    priority: stated.priority,
    type: stated.type,
    complexityMax: stated.complexityMax,
    createdAfter: stated.createdAfter,
    createdBefore: stated.createdBefore,
    modifiedAfter: stated.modifiedAfter,
    modifiedBefore: stated.modifiedBefore,
    roleChangedAfter: stated.roleChangedAfter,
    roleChangedBefore: stated.roleChangedBefore,
    ...(parentId === undefined ? {} : { parentId: await requireItem(handle, parentId, caller) }),
    ...(ancestorId === undefined ? {} : { ancestorId: await requireItem(handle, ancestorId, caller) }),
  };
  return withinScope(filter, caller);
}
