/**
 * Where the tests get their Postgres and Redis from: addresses that were given; else programs on
 * this machine; else, only when asked to, Debian's packages.
 */
import { Client } from "pg";
import { startPostgres, hasPostgres } from "../../test/support/postgres-server.ts";
import { hasRedis, startRedis } from "../../test/support/redis-server.ts";
import { installServers } from "./install-servers.ts";

/** What the tests are told, and how to take it down again. */
export interface Servers {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  close(): Promise<void>;
}

/** The machine lacks something; the message says what to do about it. */
export class ServersMissing extends Error {}

export interface Given {
  /** Part of the names of everything that tests make on a server that was given. */
  readonly run: string;
  readonly databaseUrl: string | undefined;
  readonly redisUrl: string | undefined;
  readonly install: boolean;
}

export async function bringUpServers(given: Given): Promise<Servers> {
  installMissing(given);
  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(closing.splice(0).map((closeOne) => closeOne()));
  };
  const postgres = async (): Promise<string> => {
    const server = await startPostgres();
    closing.push(() => server.close());
    return server.url;
  };
  const redis = async (): Promise<string> => {
    const server = await startRedis();
    closing.push(() => server.stop());
    return server.url;
  };
  try {
    const databaseUrl = given.databaseUrl ?? (await postgres());
    if (given.databaseUrl !== undefined) closing.push(() => dropDatabases(databaseUrl, given.run));
    const redisUrl = given.redisUrl ?? (await redis());
    return { databaseUrl, redisUrl, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A server that was given outlives the run; what the run made on it must not. */
async function dropDatabases(url: string, run: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const prefix = `muster_test_${run}_`;
    const found = await client.query<{ name: string }>(
      "select datname as name from pg_database where starts_with(datname, $1)",
      [prefix],
    );
    for (const { name } of found.rows) await client.query(`drop database if exists ${name} with (force)`);
  } finally {
    await client.end();
  }
}

function installMissing(given: Given): void {
  if (missingPackages(given).length > 0 && given.install) installServers(missingPackages(given));
  const missing = missingPackages(given);
  if (missing.length === 0) return;
  throw new ServersMissing(
    [
      `The tests need a real Postgres and Redis, and this machine lacks ${missing.join(" and ")}. Either`,
      "  install them,",
      "  or set MUSTER_TEST_INSTALL=1 to have apt-get install them,",
      "  or set MUSTER_TEST_DATABASE_URL and MUSTER_TEST_REDIS_URL to servers that tests may write to.",
    ].join("\n"),
  );
}

function missingPackages(given: Given): string[] {
  const missing: string[] = [];
  if (given.databaseUrl === undefined && !hasPostgres()) missing.push("postgresql");
  if (given.redisUrl === undefined && !hasRedis()) missing.push("redis-server");
  return missing;
}
