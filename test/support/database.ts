/** A database of one's own for every test file, on either kind, with a clock that tests can move. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe } from "vitest";
import { type DatabaseKind, type OpenDatabase, openDatabase } from "../../db/open.ts";
import { advanceClock } from "../../db/test-clock.ts";
import { openEmbedded } from "./embedded-snapshot.ts";
import { administer, databasePrefix, ensureTemplate, urlOf } from "./template-database.ts";

export interface TestDatabase extends OpenDatabase {
  /** Address for other processes; the embedded kind lives in this one and has none. */
  readonly url: string | undefined;
  /** Moves `muster_now()` for everybody who uses this database. Nothing sleeps. */
  advance(ms: number): Promise<void>;
  /** Another pool on the same database, as a second replica would have. Real Postgres only. */
  openAnother(): Promise<OpenDatabase>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface TestDatabaseOptions {
  readonly kind: DatabaseKind;
  readonly poolSize?: number;
}

/** Both kinds, in the order in which failures are easiest to read. */
export const DATABASE_KINDS: readonly DatabaseKind[] = ["pglite", "pg"];

/** A migrated, empty database that goes away with `close()`. */
export function createTestDatabase(options: TestDatabaseOptions): Promise<TestDatabase> {
  return options.kind === "pg" ? createOnPostgres(options.poolSize) : createEmbedded();
}

/** Runs a suite once per kind of database. `database()` is the suite's own; it is there from `beforeAll` on. */
export function describeEachDatabase(name: string, suite: (database: () => TestDatabase) => void): void {
  describe.each(DATABASE_KINDS)(`${name} on %s`, (kind) => {
    let opened: TestDatabase | undefined;
    beforeAll(async () => {
      opened = await createTestDatabase({ kind });
    });
    afterAll(async () => opened?.close());
    suite(() => {
      if (opened === undefined) throw new Error("The database is there inside hooks and tests only.");
      return opened;
    });
  });
}

async function createOnPostgres(poolSize: number | undefined): Promise<TestDatabase> {
  const template = await ensureTemplate();
  const name = `${databasePrefix()}${randomBytes(6).toString("hex")}`;
  await administer((client) => client.query(`create database ${name} template ${template}`));
  const url = urlOf(name);
  const opened = await openDatabase({ url, poolSize });
  const others: OpenDatabase[] = [];
  return withClock(opened, {
    url,
    openAnother: async () => {
      const other = await openDatabase({ url, poolSize });
      others.push(other);
      return other;
    },
    close: async () => {
      await Promise.all([opened, ...others].map((database) => database.close()));
      // By force: a process under test may have died without closing its connections.
      await administer((client) => client.query(`drop database if exists ${name} with (force)`));
    },
  });
}

async function createEmbedded(): Promise<TestDatabase> {
  const opened = await openEmbedded();
  return withClock(opened, {
    url: undefined,
    openAnother: () => Promise.reject(new Error("The embedded database has one connection, in one process.")),
    close: () => opened.close(),
  });
}

type Rest = Pick<TestDatabase, "url" | "openAnother" | "close">;

function withClock(opened: OpenDatabase, rest: Rest): TestDatabase {
  let closing: Promise<void> | undefined;
  // Closing twice is what a test does that closes early and still has its hook.
  const close = (): Promise<void> => (closing ??= rest.close());
  return {
    ...opened,
    ...rest,
    close,
    advance: (ms) => advanceClock(opened.db, ms),
    [Symbol.asyncDispose]: close,
  };
}
