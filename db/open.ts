/** Opens the database that the configuration names. */
import { Kysely } from "kysely";
import type { Database } from "./schema.ts";

export type DatabaseKind = "pg" | "pglite";

export interface OpenDatabaseConfig {
  /** `postgres://…`; without it the embedded database is used. */
  readonly url?: string | undefined;
  /** Folder of the embedded database; without it, it lives in memory. */
  readonly dataDir?: string | undefined;
  readonly poolSize?: number | undefined;
  readonly applicationName?: string | undefined;
  readonly onIdleError?: (error: Error) => void;
}

/** How much of a pool is in use. */
export interface PoolUse {
  readonly max: number;
  /** Lent right now. */
  readonly busy: number;
  /** Calls that wait for one. */
  readonly waiting: number;
}

export interface OpenDatabase {
  readonly db: Kysely<Database>;
  readonly kind: DatabaseKind;
  /** Null of the embedded database, which has one connection. */
  poolUse(): PoolUse | null;
  close(): Promise<void>;
}

/** Adapters are loaded when asked for: a fleet never pays for the embedded database's code. */
export async function openDatabase(config: OpenDatabaseConfig): Promise<OpenDatabase> {
  if (config.url !== undefined) {
    const { createPgDialect, createPgPool } = await import("./dialects/pg.ts");
    const pool = createPgPool({
      url: config.url,
      ...(config.poolSize === undefined ? {} : { poolSize: config.poolSize }),
      ...(config.applicationName === undefined ? {} : { applicationName: config.applicationName }),
      ...(config.onIdleError === undefined ? {} : { onIdleError: config.onIdleError }),
    });
    const db = new Kysely<Database>({ dialect: createPgDialect(pool) });
    const poolUse = (): PoolUse => ({
      max: pool.options.max,
      busy: pool.totalCount - pool.idleCount,
      waiting: pool.waitingCount,
    });
    return { db, kind: "pg", poolUse, close: () => db.destroy() };
  }
  const [{ startPglite }, { createPgliteDialect }] = await Promise.all([
    import("./dialects/start-pglite.ts"),
    import("./dialects/pglite.ts"),
  ]);
  const pglite = await startPglite(config.dataDir === undefined ? {} : { dataDir: config.dataDir });
  const db = new Kysely<Database>({ dialect: createPgliteDialect(pglite) });
  return {
    db,
    kind: "pglite",
    poolUse: () => null,
    close: async () => {
      await db.destroy();
      if (!pglite.closed) await pglite.close();
    },
  };
}
