/** The Muster that the demo runs against: alone in a temporary folder, or a fleet on real servers. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Client } from "pg";
import { hasPostgres, startPostgres } from "../../test/support/postgres-server.ts";
import { hasRedis, startRedis } from "../../test/support/redis-server.ts";
import type { Child } from "./child.ts";
import { type MusterServer, runMuster, startScheduler, startServer } from "./muster-process.ts";

export interface DemoServers extends AsyncDisposable {
  /** For the headline. */
  readonly description: string;
  readonly apis: readonly MusterServer[];
}

export interface ServersOptions {
  /** For data and output; removed by whoever made it. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

export interface GivenUrls {
  readonly databaseUrl: string | undefined;
  readonly redisUrl: string | undefined;
}

/** The machine lacks something; the message says what to do about it. */
export class ServersMissing extends Error {}

/** One process and its embedded database, as `npm start` runs it. */
export async function startAlone({ folder, signal }: ServersOptions): Promise<DemoServers> {
  const settings = { MUSTER_DATA_DIR: join(folder, "data") };
  const api = await startServer({ name: "muster", args: ["start"], settings, folder, signal });
  return {
    description: `alone at ${api.url}`,
    apis: [api],
    [Symbol.asyncDispose]: async () => void (await api.process.stop()),
  };
}

/** Two API processes and two schedulers on one Postgres and one Redis. */
export async function startFleet({ folder, signal }: ServersOptions, given: GivenUrls): Promise<DemoServers> {
  refuseWithout(given);
  await using stack = new AsyncDisposableStack();
  const databaseUrl = await postgresFor(given.databaseUrl, stack);
  const redisUrl = given.redisUrl ?? stack.use(await startRedis()).url;
  const settings = { MUSTER_DATABASE_URL: databaseUrl, MUSTER_REDIS_URL: redisUrl };
  signal.throwIfAborted();
  await runMuster({
    name: "migrate",
    args: ["migrate"],
    settings: { MUSTER_DATABASE_URL: databaseUrl },
    folder,
  });
  const start = { settings, folder, signal };
  const stop = async (child: Child): Promise<void> => void (await child.stop());
  const apis = await Promise.all(
    ["api-1", "api-2"].map(async (name) => {
      const api = await startServer({ ...start, name, args: ["api"] });
      stack.adopt(api.process, stop);
      return api;
    }),
  );
  await Promise.all(
    ["scheduler-1", "scheduler-2"].map(async (name) =>
      stack.adopt(await startScheduler({ ...start, name, args: ["scheduler"] }), stop),
    ),
  );
  const moved = stack.move();
  return {
    description: `as a fleet: ${apis.map(({ url }) => url).join(" and ")}, two schedulers, Postgres and Redis`,
    apis,
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}

function refuseWithout({ databaseUrl, redisUrl }: GivenUrls): void {
  const missing = [
    ...(databaseUrl === undefined && !hasPostgres() ? ["PostgreSQL"] : []),
    ...(redisUrl === undefined && !hasRedis() ? ["Redis or Valkey"] : []),
  ];
  if (missing.length === 0) return;
  throw new ServersMissing(
    [
      `The demo of a fleet needs a real Postgres and Redis, and this machine lacks ${missing.join(" and ")}. Either`,
      "  install them (Debian: apt-get install postgresql redis-server),",
      "  or set MUSTER_DATABASE_URL and MUSTER_REDIS_URL to servers that it may use,",
      "  or run the demo without --fleet, which needs neither.",
    ].join("\n"),
  );
}

/** A database of the demo's own: on the server that was given, or on one that ends with the demo. */
async function postgresFor(givenUrl: string | undefined, stack: AsyncDisposableStack): Promise<string> {
  if (givenUrl === undefined) return stack.use(await startPostgres()).url;
  const name = `muster_demo_${randomBytes(4).toString("hex")}`;
  try {
    await administer(givenUrl, `create database ${name}`);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new ServersMissing(
      `The demo could not make itself a database at MUSTER_DATABASE_URL: ${cause}. Give it a user who may.`,
      { cause: error },
    );
  }
  stack.defer(() => administer(givenUrl, `drop database if exists ${name} with (force)`));
  const url = new URL(givenUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
