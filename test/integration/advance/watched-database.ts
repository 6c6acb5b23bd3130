/** A database seen through a driver that keeps count of statements, and can lose the answer to one. */
import { type CompiledQuery, type DatabaseConnection, type Dialect, type Driver, Kysely } from "kysely";
import { createPgDialect, createPgPool } from "../../../db/dialects/pg.ts";
import type { Database } from "../../../db/schema.ts";
import { preparedName } from "../../../db/statement.ts";

export interface WatchedDatabase {
  readonly db: Kysely<Database>;
  /** Statements since the last call, in order: names of the hot ones, first words of the others. */
  taken(): string[];
  /** The next statement of this name reaches the database, and its answer does not come back. */
  loseAnswerTo(name: string): void;
  close(): Promise<void>;
}

export function watchDatabase(url: string): WatchedDatabase {
  let names: string[] = [];
  let lost: string | null = null;
  const watch = async <T>(name: string, run: () => Promise<T>): Promise<T> => {
    names.push(name);
    const isLost = lost === name;
    if (isLost) lost = null;
    const result = await run();
    if (isLost) throw Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    return result;
  };
  const db = new Kysely<Database>({ dialect: watchedDialect(createPgDialect(createPgPool({ url })), watch) });
  return {
    db,
    taken() {
      const all = names;
      names = [];
      return all;
    },
    loseAnswerTo(name) {
      lost = name;
    },
    close: () => db.destroy(),
  };
}

type Watch = <T>(name: string, run: () => Promise<T>) => Promise<T>;

function watchedDialect(inner: Dialect, watch: Watch): Dialect {
  return {
    createAdapter: () => inner.createAdapter(),
    createIntrospector: (db) => inner.createIntrospector(db),
    createQueryCompiler: () => inner.createQueryCompiler(),
    createDriver: () => new WatchedDriver(inner.createDriver(), watch),
  };
}

class WatchedConnection implements DatabaseConnection {
  readonly inner: DatabaseConnection;
  readonly #watch: Watch;

  constructor(inner: DatabaseConnection, watch: Watch) {
    this.inner = inner;
    this.#watch = watch;
  }

  executeQuery<R>(query: CompiledQuery) {
    const name = preparedName(query.sql) ?? query.sql.trim().split(/\s/u)[0] ?? "";
    return this.#watch(name, () => this.inner.executeQuery<R>(query));
  }

  streamQuery<R>(query: CompiledQuery, chunkSize: number) {
    return this.inner.streamQuery<R>(query, chunkSize);
  }
}

class WatchedDriver implements Driver {
  readonly #inner: Driver;
  readonly #watch: Watch;

  constructor(inner: Driver, watch: Watch) {
    this.#inner = inner;
    this.#watch = watch;
  }

  init = (): Promise<void> => this.#inner.init();
  acquireConnection = async () => new WatchedConnection(await this.#inner.acquireConnection(), this.#watch);
  beginTransaction: Driver["beginTransaction"] = (connection, settings) =>
    this.#inner.beginTransaction(innerOf(connection), settings);
  commitTransaction = (connection: DatabaseConnection) => this.#inner.commitTransaction(innerOf(connection));
  rollbackTransaction = (connection: DatabaseConnection) =>
    this.#inner.rollbackTransaction(innerOf(connection));
  releaseConnection = (connection: DatabaseConnection) => this.#inner.releaseConnection(innerOf(connection));
  destroy = (): Promise<void> => this.#inner.destroy();
}

function innerOf(connection: DatabaseConnection): DatabaseConnection {
  if (!(connection instanceof WatchedConnection)) throw new Error("a connection that is not watched");
  return connection.inner;
}
