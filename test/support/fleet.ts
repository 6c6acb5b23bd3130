/** A fleet of real processes on a database and a Redis of their own, which a test may stop and start. */
import { createTestDatabase } from "./database.ts";
import { type MusterEnv, type MusterProcess, spawnMuster } from "./processes.ts";
import { type RedisServer, startRedis } from "./redis-server.ts";

export interface Fleet {
  readonly env: MusterEnv;
  readonly redis: RedisServer;
  /** Moves the clock of the database, for all processes. */
  advance(ms: number): Promise<void>;
  api(): Promise<MusterProcess>;
  scheduler(): Promise<MusterProcess>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface FleetOptions {
  /** Instead of a new database on the run's Postgres: one on a server that the test stops. */
  readonly databaseUrl?: string;
  /** Of every process, besides where the database and Redis are. */
  readonly env?: MusterEnv;
}

/** Nothing runs yet but Redis; processes are started one by one. */
export async function createFleet(options: FleetOptions = {}): Promise<Fleet> {
  const database = options.databaseUrl === undefined ? await createTestDatabase({ kind: "pg" }) : null;
  const redis = await startRedis();
  const started: MusterProcess[] = [];
  const env: MusterEnv = {
    MUSTER_DATABASE_URL: options.databaseUrl ?? database?.url,
    MUSTER_REDIS_URL: redis.url,
    MUSTER_PORT: "0",
    ...options.env,
  };
  const start = async (role: "api" | "scheduler"): Promise<MusterProcess> => {
    const one = await spawnMuster([role], env);
    started.push(one);
    return one;
  };
  return {
    env,
    redis,
    advance: async (ms) => {
      if (database === null) throw new Error("The clock can be moved in a test database only.");
      await database.advance(ms);
    },
    api: () => start("api"),
    scheduler: () => start("scheduler"),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(started.map((one) => one.kill()));
      await redis.stop();
      await database?.close();
    },
  };
}

/** What `/readyz` says; null while nobody listens. */
export async function readiness({ url }: MusterProcess): Promise<Readiness | null> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) });
    return { ...((await response.json()) as Omit<Readiness, "status">), status: response.status };
  } catch {
    return null;
  }
}

export interface Readiness {
  readonly status: number;
  readonly ready: boolean;
  readonly degraded?: readonly string[];
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly reason?: string }>>;
}

/** Whether it serves; a fleet's API listens before it does. */
export async function isReady(server: MusterProcess): Promise<boolean> {
  return (await readiness(server))?.ready === true;
}
