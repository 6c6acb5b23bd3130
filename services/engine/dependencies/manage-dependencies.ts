/**
 * `manage_dependencies`: edges between items. A batch is drawn as a whole or not at all.
 * Whoever changes edges holds the graphs of every root involved exclusively, so that no
 * two calls close a cycle between them, and locks the items at both ends, so that a
 * blocker that is just finishing is counted once.
 */
import type {
  ManageDependenciesInput,
  ManageDependenciesOutput,
} from "../../contract/operations/manage-dependencies.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { openWriteCall } from "../writing/write-call.ts";
import { createDependencies } from "./create-dependencies.ts";
import { deleteDependencies } from "./delete-dependencies.ts";

export async function manageDependencies(
  deps: EngineDeps,
  input: ManageDependenciesInput,
  caller: Caller,
): Promise<ManageDependenciesOutput> {
  const call = await openWriteCall(deps.db, "manage_dependencies", input, caller);
  return input.operation === "create"
    ? await createDependencies(deps, call, input, caller)
    : await deleteDependencies(deps, call, input, caller);
}
