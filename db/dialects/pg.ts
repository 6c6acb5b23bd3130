/** PostgreSQL through node-postgres, with hot statements prepared by name. */
import { type Dialect, PostgresDialect, type PostgresPool } from "kysely";
import { Pool, type PoolClient, types } from "pg";
import { Column } from "../binary-array.ts";
import { preparedName } from "../statement.ts";
import { gatheringSocket } from "./gathering-socket.ts";

const INT8 = 20;

function parserFor(oid: number, format?: "text" | "binary"): unknown {
  const standard = types.getTypeParser as (oid: number, format?: "text" | "binary") => unknown;
  return oid === INT8 ? Number : standard(oid, format);
}

export interface PgOptions {
  readonly url: string;
  /** More connections than this make one Postgres slower, not faster. */
  readonly poolSize?: number;
  readonly applicationName?: string;
  /** Told about a connection that broke while idle; the pool replaces it. */
  readonly onIdleError?: (error: Error) => void;
}

export function createPgPool(options: PgOptions): Pool {
  const pool = new Pool({
    connectionString: options.url,
    max: options.poolSize ?? 10,
    application_name: options.applicationName ?? "muster",
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    // Statements that do not wait for each other share a round trip, and are sent as one.
    pipeline: true,
    stream: gatheringSocket,
    // A transaction that is left open keeps every dead row version alive for all others.
    idle_in_transaction_session_timeout: 15_000,
    statement_timeout: 30_000,
    // The server's own time-out does nothing about a server that went silent without hanging up.
    query_timeout: 35_000,
    lock_timeout: 5_000,
    // Statements here take milliseconds; compiling one of them takes fifty.
    // Plans are kept, and one that was made while a table was nearly empty would go on reading all of it.
    options: "-c jit=off -c plan_cache_mode=force_generic_plan -c enable_seqscan=off",
    types: {
      // Fences and counters stay far below 2^53; strings would compare as text.
      getTypeParser: parserFor as typeof types.getTypeParser,
    },
  });
  pool.on("error", (error) => options.onIdleError?.(error));
  return pool;
}

export function createPgDialect(pool: Pool): Dialect {
  const prepared: PostgresPool = {
    options: {},
    connect: async () => new NamedClient(await pool.connect()),
    end: () => pool.end(),
  };
  return new PostgresDialect({ pool: prepared });
}

/** Gives the statements that `statement()` declared their name on the wire. */
class NamedClient {
  readonly #client: PoolClient;

  constructor(client: PoolClient) {
    this.#client = client;
    // The pool listens to idle connections only. One that breaks while it is lent fails its statements;
    // what it emits besides would end the process.
    client.on("error", ignore);
  }

  // Kysely's own overloads: text for statements, a cursor for streams, which are not used here.
  query(text: string, values?: readonly unknown[]): Promise<never>;
  query(cursor: never): never;
  async query(text: string, values?: readonly unknown[]): Promise<never> {
    const name = preparedName(text);
    const query = name === undefined ? { text } : { name, text };
    // Kysely types the result by its own command union; the shape is pg's own.
    return (await this.#client.query({ ...query, values: (values ?? []).map(toWire) })) as never;
  }

  release(destroy?: boolean): void {
    this.#client.release(destroy);
    this.#client.removeListener("error", ignore);
  }
}

/** The driver sends buffers in binary format. */
function toWire(value: unknown): unknown {
  return value instanceof Column ? value.toBinary() : value;
}

function ignore(): void {}
