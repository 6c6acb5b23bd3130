/**
 * Retention: a round takes one small batch from each shelf that is due, each in a transaction
 * of its own. Where a pass stands is in the database, so any number of schedulers may run
 * rounds at once, and one that dies is gone on from where it was.
 */
import { clearBatch, dueShelves, ensurePasses } from "../../../db/stores/retention-store.ts";
import type { EngineDeps } from "../deps.ts";
import type { RetainReport } from "../engine.ts";

export function createRetention(deps: EngineDeps): (signal: AbortSignal) => Promise<RetainReport> {
  let isReady = false;
  return async (signal) => {
    if (!isReady) await ensurePasses(deps.db);
    isReady = true;
    let deleted = 0;
    let more = false;
    for (const shelf of await dueShelves(deps.db)) {
      if (signal.aborted) break;
      const batch = await clearBatch(deps.db, shelf, shelf.window(deps.settings.retention));
      deleted += batch.deleted;
      more ||= !batch.finished;
    }
    return { deleted, more };
  };
}
