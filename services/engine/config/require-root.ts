/** Projects are roots: what is configured, planned and ruled hangs on an item without parent. */
import { findRootOf } from "../../../db/stores/project-config-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault } from "../../contract/errors.ts";

/**
 * Only what has no parent can be a project.
 *
 * @returns the item's type
 */
export async function requireRoot(handle: Handle, id: string): Promise<string | null> {
  const item = await findRootOf(handle, id);
  if (item === null) throw fault("RESOURCE_NOT_FOUND", `there is no item ${id}`);
  if (item.rootId !== id) {
    throw fault("VALIDATION_ERROR", `rootId: ${id} is not a root: a project is configured at its top item`, {
      hint: `Pass rootId ${item.rootId}, the root of that item.`,
    });
  }
  return item.type;
}
