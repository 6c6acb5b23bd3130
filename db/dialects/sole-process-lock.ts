/**
 * The lock of a process that runs alone on PostgreSQL: without Redis nothing tells two of
 * them of each other, so the second must not start.
 *
 * It is a session advisory lock, held by a connection of its own for as long as the process
 * lives; a process that dies lets go of it by that. When the connection is lost, so is the
 * lock, and it is taken again as soon as the database is back. Until then nothing can be
 * written anyway.
 */
import { setTimeout as wait } from "node:timers/promises";
import { Client } from "pg";

/** Any number, as long as nobody else uses it on this database. */
const LOCK_KEY = 7_264_117;
const RETRY_MS = 500;

export interface SoleProcessLock {
  release(): Promise<void>;
}

export interface SoleProcessOptions {
  readonly url: string;
  /** Another process took the lock while the connection was lost. This one has to end. */
  readonly onLost: () => void;
}

/** The lock, or null when another process has it. Rejects when the database is away. */
export async function takeSoleProcessLock(options: SoleProcessOptions): Promise<SoleProcessLock | null> {
  const releasing = new AbortController();
  let client = await tryLock(options.url);
  if (client === null) return null;

  const keep = async (): Promise<void> => {
    while (!releasing.signal.aborted && client !== null) {
      await connectionEnd(client, releasing.signal);
      if (releasing.signal.aborted) return;
      const again = await lockAgain(options.url, releasing.signal);
      if (again === "stopped") return;
      client = again;
    }
    if (!releasing.signal.aborted) options.onLost();
  };
  const kept = keep();

  return {
    async release() {
      releasing.abort();
      await kept;
      await client?.end().catch(() => undefined);
    },
  };
}

async function lockAgain(url: string, signal: AbortSignal): Promise<Client | null | "stopped"> {
  for (;;) {
    await wait(RETRY_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return "stopped";
    try {
      return await tryLock(url);
    } catch {
      // Still away; whoever asks `/readyz` is told.
    }
  }
}

async function tryLock(url: string): Promise<Client | null> {
  const client = new Client({
    connectionString: url,
    application_name: "muster sole process",
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
  });
  // A connection that breaks while idle reports it here, and without a listener ends the process.
  client.on("error", () => undefined);
  try {
    await client.connect();
    const sql = "select pg_try_advisory_lock($1) as taken";
    const { rows } = await client.query<{ taken: boolean }>(sql, [LOCK_KEY]);
    if (rows[0]?.taken === true) return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
  await client.end();
  return null;
}

function connectionEnd(client: Client, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    client.once("end", () => resolve());
    client.once("error", () => resolve());
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
