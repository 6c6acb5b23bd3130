/**
 * The database's clock, between two questions to it.
 *
 * The claim clock stores instants of the database, but a heartbeat must not cost a
 * database call. So the distance to a monotonic local clock is remembered and asked for
 * anew every second; a wall clock that jumps changes nothing.
 *
 * An instant that a transaction brings along is the one at which it began, and it may have
 * waited for seconds: it says how late it is at least. Were it taken for now, heartbeats
 * would be written down as older than they are, and a living holder would be given up.
 */
import { type Kysely, sql } from "kysely";
import type { Database } from "../../db/schema.ts";

const RESYNC_MS = 1_000;
/** A database that is silent says nothing new for long; what is known serves until it does. */
const PATIENCE_MS = 250;

export interface DatabaseTime {
  /** Milliseconds of the database's clock, right to within a round trip. */
  now(): Promise<number>;
  /** Told whenever a statement brought the database's time along. */
  observe(databaseNowMs: number): void;
}

export function createDatabaseTime(
  db: Kysely<Database>,
  resyncMs: number = RESYNC_MS,
  patienceMs: number = PATIENCE_MS,
): DatabaseTime {
  let offset = Number.NEGATIVE_INFINITY;
  let syncedAt = Number.NEGATIVE_INFINITY;
  let syncing: Promise<void> | null = null;

  const observe = (databaseNowMs: number): void => {
    offset = Math.max(offset, databaseNowMs - performance.now());
  };

  const sync = async (): Promise<void> => {
    try {
      const askedAt = performance.now();
      const { rows } = await sql<{ now: Date }>`select muster_now() as now`.execute(db);
      const now = rows[0]?.now.getTime();
      if (now === undefined) return;
      syncedAt = performance.now();
      // Looked at somewhere between question and answer. What is known already stands if it fits
      // in there: the answer of a process that was frozen meanwhile would take it back.
      offset = Math.min(Math.max(offset, now - syncedAt), now - askedAt);
    } catch (error) {
      // Two good clocks drift apart by far less than a ttl while the database is away, and
      // heartbeats that the claim clock can take must not fail meanwhile.
      if (offset === Number.NEGATIVE_INFINITY) throw error;
    }
  };

  return {
    observe,
    async now() {
      if (performance.now() - syncedAt >= resyncMs) {
        // Everybody who asks meanwhile shares one question.
        syncing ??= sync().finally(() => {
          syncing = null;
        });
        await (offset === Number.NEGATIVE_INFINITY ? syncing : within(patienceMs, syncing));
      }
      return Math.round(performance.now() + offset);
    },
  };
}

async function within(ms: number, done: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  await Promise.race([done, late.promise]);
  clearTimeout(timer);
}
