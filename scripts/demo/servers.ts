/** The Muster that the demo runs against: alone in a temporary folder, or a fleet on real servers. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Client } from "pg";
import { hasPostgres, startPostgres } from "../../test/support/postgres-server.ts";
import { type MusterEnv, type MusterProcess, runMuster, spawnMuster } from "../../test/support/processes.ts";
import { hasRedis, startRedis } from "../../test/support/redis-server.ts";
import { until } from "../../test/support/until.ts";

export interface DemoServers extends AsyncDisposable {
  /** For the headline. */
  readonly description: string;
  readonly apis: readonly MusterProcess[];
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

const READY_MS_MAX = 30_000;

/** The machine lacks something; the message says what to do about it. */
export class ServersMissing extends Error {}

/** One process and its embedded database, as `npm start` runs it. */
export async function startAlone({ folder, signal }: ServersOptions): Promise<DemoServers> {
  await using stack = new AsyncDisposableStack();
  const api = await startServer("start", { MUSTER_DATA_DIR: join(folder, "data") }, stack, signal);
  return handOver(stack, { description: `alone at ${api.url}`, apis: [api] });
}

/** Two API processes and two schedulers on one Postgres and one Redis. */
export async function startFleet({ signal }: ServersOptions, given: GivenUrls): Promise<DemoServers> {
  refuseWithout(given);
  await using stack = new AsyncDisposableStack();
  const databaseUrl = await postgresFor(given.databaseUrl, stack);
  const redisUrl = given.redisUrl ?? stack.use(await startRedis()).url;
  signal.throwIfAborted();
  const migrated = await runMuster(["migrate"], { MUSTER_DATABASE_URL: databaseUrl });
  if (migrated.code !== 0) throw new Error(`The database could not be prepared.\n${migrated.stderr}`);
  const env = { MUSTER_DATABASE_URL: databaseUrl, MUSTER_REDIS_URL: redisUrl };
  const twice = <T>(start: () => Promise<T>): Promise<readonly T[]> => Promise.all([start(), start()]);
  const apis = await twice(() => startServer("api", env, stack, signal));
  await twice(() => startMuster("scheduler", env, stack, signal));
  const where = apis.map(({ url }) => url).join(" and ");
  return handOver(stack, {
    description: `as a fleet: ${where}, two schedulers, Postgres and Redis`,
    apis,
  });
}

async function startServer(
  role: "start" | "api",
  env: MusterEnv,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<MusterProcess> {
  const server = await startMuster(role, { ...env, MUSTER_PORT: "0" }, stack, signal);
  await until(async () => signal.aborted || (await isReady(server)), READY_MS_MAX);
  signal.throwIfAborted();
  return server;
}

async function isReady({ url }: MusterProcess): Promise<boolean> {
  try {
    return (await fetch(new URL("/readyz", url))).ok;
  } catch {
    return false;
  }
}

async function startMuster(
  role: "start" | "api" | "scheduler",
  env: MusterEnv,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<MusterProcess> {
  const settings = { MUSTER_METRICS_PORT: "off", MUSTER_LOG_LEVEL: "warn", ...env };
  const started = await spawnMuster([role], settings, { detached: true, signal });
  return stack.adopt(started, async (muster) => void (await muster.stop()));
}

/** The servers end with what is handed over, and no longer with the start. */
function handOver(
  stack: AsyncDisposableStack,
  servers: Omit<DemoServers, typeof Symbol.asyncDispose>,
): DemoServers {
  const moved = stack.move();
  return { ...servers, [Symbol.asyncDispose]: () => moved.disposeAsync() };
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
