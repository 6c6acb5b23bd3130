/** Writes the rows of calls that no transaction has written: refusals, and what came of a batch in part. */
import { type CallRow, settleCalls } from "../../../db/stores/call-store.ts";
import type { EngineDeps } from "../deps.ts";

export interface AuditTrail {
  /** Right after the call, together with those of other calls; nobody waits for it. */
  add(row: CallRow): void;
  /** Writes what is still to be written. */
  close(): Promise<void>;
}

/** More than this is what a database that is away has left behind; the log says how many were lost. */
const PENDING_MAX = 10_000;
const BATCH_MAX = 500;
const TRIES = 3;
const PAUSE_MS = 250;

export function createAuditTrail({ db, log }: Pick<EngineDeps, "db" | "log">): AuditTrail {
  let pending: CallRow[] = [];
  let dropped = 0;
  let scheduled = false;
  let writing: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    while (pending.length > 0) {
      const batch = pending.slice(0, BATCH_MAX);
      pending = pending.slice(BATCH_MAX);
      await store(batch);
    }
  }

  async function store(batch: readonly CallRow[]): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await settleCalls(db, batch);
      } catch (error) {
        if (tries < TRIES) {
          await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * tries));
          continue;
        }
        dropped += batch.length;
        log.error(
          { err: error, calls: batch.length, droppedSoFar: dropped },
          "calls not written into the audit",
        );
        return;
      }
    }
  }

  return {
    add(row) {
      if (pending.length >= PENDING_MAX) {
        dropped += 1;
        return;
      }
      pending.push(row);
      if (scheduled) return;
      scheduled = true;
      writing = writing.then(() => {
        scheduled = false;
        return write();
      });
    },
    async close() {
      await writing;
    },
  };
}
