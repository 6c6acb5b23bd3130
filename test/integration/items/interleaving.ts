/** Makes two calls meet at a lock, in a known order, without sleeping. Real Postgres only. */
import { sql } from "kysely";
import type { OpenDatabase } from "../../../db/open.ts";
import { until } from "../../support/until.ts";

/** Holds the state rows of the items until told to let go. */
async function holdRows({ db }: OpenDatabase, ids: readonly string[]): Promise<() => Promise<void>> {
  const gate = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const transaction = db.transaction().execute(async (tx) => {
    await sql`select from item_state where item_id = any(${ids}) order by item_id for update`.execute(tx);
    held.resolve();
    await gate.promise;
  });
  await Promise.race([held.promise, transaction]);
  return async () => {
    gate.resolve();
    await transaction;
  };
}

/** Waits until this many statements of the database wait for a lock. */
export async function waitForBlocked({ db }: OpenDatabase, count: number): Promise<void> {
  await until(async () => {
    const { rows } = await sql<{ n: number }>`
      select count(*)::int as n from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    return (rows[0]?.n ?? 0) >= count;
  });
}

/**
 * Starts the calls one after another, each once the one before it waits behind the held
 * rows, then lets them all go. Answers what they answered.
 */
export async function meetAt<T extends readonly (() => Promise<unknown>)[]>(
  database: OpenDatabase,
  ids: readonly string[],
  calls: T,
): Promise<{ [K in keyof T]: Awaited<ReturnType<T[K]>> }> {
  const letGo = await holdRows(database, ids);
  const running: Promise<unknown>[] = [];
  try {
    for (const call of calls) {
      running.push(call());
      await waitForBlocked(database, running.length);
    }
  } finally {
    await letGo();
  }
  return (await Promise.all(running)) as { [K in keyof T]: Awaited<ReturnType<T[K]>> };
}
