/**
 * `manage_items`: what items are, and where they hang. Creating and updating succeed or
 * fail element by element, deleting and restoring root by root; each in a transaction
 * with its own idempotency key.
 */
import type { ManageItemsInput, ManageItemsOutput } from "../../contract/operations/manage-items.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { openWriteCall } from "../writing/write-call.ts";
import { createItems } from "./create-items.ts";
import { deleteItems } from "./delete-items.ts";
import { restoreItems } from "./restore-items.ts";
import { updateItems } from "./update-items.ts";

export async function manageItems(
  deps: EngineDeps,
  input: ManageItemsInput,
  caller: Caller,
): Promise<ManageItemsOutput> {
  const call = await openWriteCall(deps.db, "manage_items", input, caller);
  switch (input.operation) {
    case "create":
      return await createItems(deps, call, input, caller);
    case "update":
      return await updateItems(deps, call, input, caller);
    case "delete":
      return await deleteItems(deps, call, input);
    case "restore":
      return await restoreItems(deps, call, input);
  }
}
