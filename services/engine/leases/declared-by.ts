/** What items take when they enter work, by their schemas. */
import type { Handle } from "../../../db/statement.ts";
import { declaredOf } from "../../core/leases/declared.ts";
import type { Declared } from "../../core/leases/lease-book.ts";
import type { ItemState } from "../../core/state.ts";
import type { EngineDeps } from "../deps.ts";

/** For items of the roots that these items are in. */
export async function declaredBySchemas(
  deps: EngineDeps,
  handle: Handle,
  items: readonly ItemState[],
): Promise<(item: ItemState) => Declared> {
  const schemas = await deps.schemas.load(handle, [...new Set(items.map(({ rootId }) => rootId))]);
  const { resourceLeases } = deps.settings;
  return (item) => declaredOf(schemas.of(item).resources, resourceLeases);
}
