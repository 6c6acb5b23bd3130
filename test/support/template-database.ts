/**
 * The migrated database that every test database is a copy of. Copying takes a tenth of the time
 * of migrating, so the first test file of a run that asks makes it and the others wait.
 */
import { Client } from "pg";
import { migrate } from "../../db/migrate.ts";
import { openDatabase } from "../../db/open.ts";
import { installTestClock } from "../../db/test-clock.ts";
import { testDatabaseUrl, testRun } from "./run.ts";

/** Names of everything a run makes start with this, so that the runner can remove what is left. */
export function databasePrefix(): string {
  return `muster_test_${testRun()}_`;
}

/** Serialises making the template among the worker processes of a run. */
const TEMPLATE_LOCK = 7_264_118;

/** Runs one statement after another outside any transaction, as `create database` demands. */
export async function administer<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: testDatabaseUrl() });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

export function urlOf(database: string): string {
  const url = new URL(testDatabaseUrl());
  url.pathname = `/${database}`;
  return url.href;
}

/** Name of the template, which exists when this resolves. */
export async function ensureTemplate(): Promise<string> {
  const template = `${databasePrefix()}template`;
  await administer(async (client) => {
    await client.query("select pg_advisory_lock($1)", [TEMPLATE_LOCK]);
    if (await exists(client, template)) return;
    // Under another name until it is complete: a migration that fails must not leave half a template.
    const draft = `${databasePrefix()}draft`;
    await client.query(`drop database if exists ${draft} with (force)`);
    await client.query(`create database ${draft}`);
    await prepare(urlOf(draft));
    await client.query(`alter database ${draft} rename to ${template}`);
  });
  return template;
}

async function exists(client: Client, database: string): Promise<boolean> {
  const found = await client.query("select from pg_database where datname = $1", [database]);
  return found.rowCount === 1;
}

async function prepare(url: string): Promise<void> {
  const { db, close } = await openDatabase({ url, poolSize: 1 });
  try {
    await migrate(db);
    await installTestClock(db);
  } finally {
    await close();
  }
}
