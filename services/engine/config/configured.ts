/** What is configured for the rows of a decision: their schemas, and the notes that those ask for. */
import { filledNotes } from "../../../db/stores/note-store.ts";
import { findFingerprints } from "../../../db/stores/project-config-store.ts";
import type { Configured, FoundRows } from "../../../db/stores/world-store.ts";
import type { Handle } from "../../../db/statement.ts";
import type { ItemState } from "../../core/state.ts";
import { NotLocked } from "../../core/world.ts";
import type { EngineDeps } from "../deps.ts";

/** No statement at all where no project has a text and no schema asks for notes. */
export async function configuredFor(
  deps: EngineDeps,
  handle: Handle,
  { states, judged, configs }: FoundRows,
): Promise<Configured> {
  const ids = new Set(judged);
  const rows = states.filter((state) => ids.has(state.id));
  const roots = new Set(rows.map((state) => state.rootId));
  const schemas = await deps.schemas.loadTexts(handle, roots, configs);
  const asking = rows.filter((state) => schemas.of(state).notes.length > 0).map((state) => state.id);
  const filled = await filledNotes(handle, asking);
  const schemaOf: Configured["schemaOf"] = (state) => {
    // Locked for another reason: what is configured for its project was not asked.
    if (!roots.has(state.rootId)) throw new NotLocked([state.id]);
    return schemas.of(state);
  };
  return {
    schemaOf,
    policyOf: (state) => deps.policyOf(state, schemaOf(state)),
    notes: { filled, of: new Set(asking) },
  };
}

/** The same for rows that were only read: which texts count is asked as well. */
export async function configuredAnew(
  deps: EngineDeps,
  handle: Handle,
  states: readonly ItemState[],
): Promise<Configured> {
  const configs = await findFingerprints(handle, [...new Set(states.map((state) => state.rootId))]);
  return await configuredFor(deps, handle, { states, judged: states.map((state) => state.id), configs });
}
