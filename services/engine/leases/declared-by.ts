/** What items take when they enter work, by their schemas. */
import type { Handle } from "../../../db/statement.ts";
import { declaredOf } from "../../core/leases/declared.ts";
import type { Declared } from "../../core/leases/lease-book.ts";
import type { ItemSchema } from "../../core/schemas/item-schema.ts";
import type { ItemState } from "../../core/state.ts";
import type { EngineDeps } from "../deps.ts";

/** By schemas that are at hand. */
export function declaredBy(
  { settings }: Pick<EngineDeps, "settings">,
  schemaOf: (item: ItemState) => ItemSchema,
): (item: ItemState) => Declared {
  return (item) => declaredOf(schemaOf(item).resources, settings.resourceLeases);
}

/** By schemas that are still to be loaded, for items of the roots that these items are in. */
export async function declaredBySchemas(
  deps: EngineDeps,
  handle: Handle,
  items: readonly ItemState[],
): Promise<(item: ItemState) => Declared> {
  const schemas = await deps.schemas.load(handle, [...new Set(items.map(({ rootId }) => rootId))]);
  return declaredBy(deps, (item) => schemas.of(item));
}
