/**
 * Keeps the copies by which offers are filtered equal to what the schemas say. A copy that
 * lags behind costs a refused start and nothing worse: the start itself asks the schema.
 */
import {
  findDeclaringItems,
  findDeclaringKinds,
  type ResourceCopy,
  saveResources,
  saveResourcesOfKinds,
} from "../../../db/stores/resource-copy-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { declaredOf } from "../../core/leases/declared.ts";
import type { Schemas, SchemaKey } from "../config/schema-source.ts";
import type { EngineDeps } from "../deps.ts";

export interface DeclaringItem extends SchemaKey {
  readonly id: string;
}

/** Of items that were just made: where nothing is declared there is nothing to write. */
export async function enterResources(
  deps: EngineDeps,
  tx: Handle,
  items: readonly DeclaringItem[],
): Promise<void> {
  const schemas = await load(deps, tx, items);
  const rows = items.map((item) => ({ id: item.id, resources: copyOf(schemas, item) }));
  await saveResources(
    tx,
    rows.filter(({ resources }) => resources !== null),
  );
}

/** Of items whose type, tags, traits or root has changed, or that are back from the trash; as their rows are now. */
export async function syncResources(deps: EngineDeps, tx: Handle, ids: readonly string[]): Promise<void> {
  const items = await findDeclaringItems(tx, ids);
  const schemas = await load(deps, tx, items);
  await saveResources(
    tx,
    items
      .map((item) => ({ ...item, resources: copyOf(schemas, item) }))
      .filter(({ resources, declares }) => resources !== null || declares),
  );
}

/** Of everything in these roots, whose configuration has changed; null: of everything. A kind of item is one row. */
export async function syncRoots(
  deps: EngineDeps,
  tx: Handle,
  rootIds: readonly string[] | null,
): Promise<void> {
  const kinds = await findDeclaringKinds(tx, rootIds);
  const schemas = await load(deps, tx, kinds);
  const wanted = kinds.map((kind) => ({ ...kind, resources: copyOf(schemas, kind) }));
  await saveResourcesOfKinds(
    tx,
    wanted.filter(({ resources, declares }) => resources !== null || declares),
  );
}

async function load(deps: EngineDeps, tx: Handle, items: readonly SchemaKey[]): Promise<Schemas> {
  return await deps.schemas.load(tx, [...new Set(items.map(({ rootId }) => rootId))]);
}

/** Null where nothing can stand in the way. */
function copyOf(schemas: Schemas, item: SchemaKey): ResourceCopy["resources"] {
  const { requirements } = declaredOf(schemas.of(item).resources, true);
  if (requirements.length === 0) return null;
  return requirements.map(({ key, mode, capacity }) => ({ key, mode, capacity }));
}
