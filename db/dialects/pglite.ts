/**
 * PGlite, the embedded default: one connection inside this process.
 *
 * Kysely's own driver for it hands the one connection to everybody at once, so that a
 * query of one request would run inside the transaction of another. Here the
 * connection is lent to one borrower at a time, in order, and waiting for it ends with
 * an error: a pool call made inside a transaction would otherwise wait on itself for ever.
 */
import type { PGlite } from "@electric-sql/pglite";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type Driver,
  type Kysely,
  PGliteAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from "kysely";
import { Column } from "../binary-array.ts";

const ACQUIRE_TIMEOUT_MS = 20_000;

export function createPgliteDialect(pglite: PGlite): Dialect {
  return {
    createAdapter: () => new PGliteAdapter(),
    createDriver: () => new SerialDriver(pglite),
    createIntrospector: (db: Kysely<never>): DatabaseIntrospector => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

class SerialDriver implements Driver {
  readonly #pglite: PGlite;
  readonly #connection: DatabaseConnection;
  readonly #waiting: (() => void)[] = [];
  #lent = false;

  constructor(pglite: PGlite) {
    this.#pglite = pglite;
    this.#connection = new PgliteConnection(pglite);
  }

  async init(): Promise<void> {
    await this.#pglite.waitReady;
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    if (!this.#lent) {
      this.#lent = true;
      return this.#connection;
    }
    await new Promise<void>((resolve, reject) => {
      const take = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(take), 1);
        reject(new Error("timed out waiting for the embedded database's only connection"));
      }, ACQUIRE_TIMEOUT_MS);
      this.#waiting.push(take);
    });
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#lent = false;
  }

  async beginTransaction(): Promise<void> {
    await this.#pglite.query("begin");
  }

  async commitTransaction(): Promise<void> {
    await this.#pglite.query("commit");
  }

  async rollbackTransaction(): Promise<void> {
    await this.#pglite.query("rollback");
  }

  async destroy(): Promise<void> {
    if (!this.#pglite.closed) await this.#pglite.close();
  }
}

class PgliteConnection implements DatabaseConnection {
  readonly #pglite: PGlite;

  constructor(pglite: PGlite) {
    this.#pglite = pglite;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const result = await this.#pglite.query<Row>(query.sql, query.parameters.map(toWire), {
      rowMode: "object",
    });
    const affected = result.affectedRows;
    return affected === undefined
      ? { rows: result.rows }
      : { rows: result.rows, numAffectedRows: BigInt(affected) };
  }

  // eslint-disable-next-line require-yield
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error("the embedded database does not stream");
  }
}

/** The driver writes arrays as text by itself. */
function toWire(value: unknown): unknown {
  return value instanceof Column ? value.toValues() : value;
}
