/** `manage_notes`: notes succeed or fail one by one, each in a transaction with its own idempotency key. */
import type { ManageNotesInput, ManageNotesOutput } from "../../contract/operations/manage-notes.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { openWriteCall } from "../writing/write-call.ts";
import { deleteNotes } from "./delete-notes.ts";
import { patchNotes, undoNotes } from "./patch-notes.ts";
import { upsertNotes } from "./upsert-notes.ts";

export async function manageNotes(
  deps: EngineDeps,
  input: ManageNotesInput,
  caller: Caller,
): Promise<ManageNotesOutput> {
  const call = await openWriteCall(deps.db, "manage_notes", input, caller);
  switch (input.operation) {
    case "upsert":
      return await upsertNotes(deps, call, input, caller);
    case "patch":
      return await patchNotes(deps, call, input, caller);
    case "undo":
      return await undoNotes(deps, call, input, caller);
    case "delete":
      return await deleteNotes(deps, call, input, caller);
  }
}
