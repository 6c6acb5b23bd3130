/**
 * `muster start`: Muster alone, API and scheduler in one process, data in one directory.
 *
 * The order is that of what can fail for good: the configuration, the directory, the database,
 * the port. Only when all of them are there does it print its first line.
 */
import { fileURLToPath } from "node:url";
import { accessTokensOf, authOf } from "../../api/auth/configure.ts";
import { countsOf } from "../../api/counts.ts";
import { createApi } from "../../api/create-api.ts";
import { listenOrExplain } from "../../api/listen.ts";
import { asStartFailure, openEngine } from "../../engine/main.ts";
import { aloneConfig, type AloneConfig, configFilesOf, readConfig } from "../../runtime/config.ts";
import { openDataDirectory } from "../../runtime/data-directory.ts";
import { ConfigError, UnavailableError } from "../../runtime/exit.ts";
import { createHealth } from "../../runtime/health.ts";
import { type ProcessLifecycle, runProcess } from "../../runtime/lifecycle.ts";
import { createLog, type Log } from "../../runtime/log.ts";
import { createPacedLoop } from "../../runtime/paced-loop.ts";
import { connectWithRetry } from "../../runtime/retry.ts";
import { VERSION } from "../../runtime/version.ts";
import { startScheduler } from "../../scheduler/start-scheduler.ts";
import { createLocalInstants } from "../../scheduler/local-instants.ts";
import { type Activity, createActivity } from "../../api/activity.ts";
import { bannerJson, bannerText, type Started } from "./banner.ts";

export interface StartCommand {
  readonly json: boolean;
  /** Stop after this long without clients. */
  readonly idleStopSeconds?: number | undefined;
}

/** Ctrl-C ends everything within two seconds; calls in flight get half of that. */
const STOP_DEADLINE_MS = 1_700;
const CALLS_DEADLINE_MS = 900;

/** Runs until it is told to stop, and ends the process. */
export async function runAlone(command: StartCommand): Promise<void> {
  await runProcess((lifecycle) => start(lifecycle, command), { deadlineMs: STOP_DEADLINE_MS });
}

async function start(lifecycle: ProcessLifecycle, command: StartCommand): Promise<void> {
  const config = readConfig(aloneConfig);
  const log = createLog({ service: "muster", level: config.logLevel, to: "stderr" });
  lifecycle.logTo(log);
  const directory = await lifecycle.own(
    "data directory",
    () => openDataDirectory(config.dataDir),
    (opened) => opened.release(),
  );
  await becomeSoleProcess(lifecycle, config, log);
  let url = "";
  const secretKey = config.secretKey ?? directory.secretKey();
  const opened = await openEngine(lifecycle, {
    databaseUrl: config.databaseUrl,
    databasePath: directory.databasePath,
    redisUrl: config.redisUrl,
    applicationName: "muster",
    configFiles: configFilesOf(config),
    filesDir: config.filesDir,
    resourceLeases: config.resourceLeasesEnforced,
    privateWebhooks: config.webhooksAllowPrivate,
    secretKey: secretKey,
    degradedModePolicy: config.degradedModePolicy,
    accessTokens: accessTokensOf(config, () => url),
    log,
  });
  const migrated = await opened.prepare({ migrate: true });
  if (config.redisUrl !== undefined) await opened.checkCoordination();

  const activity = createActivity();
  const served = await serve(lifecycle, config, log, {
    ...opened,
    activity,
    secretKey,
  });
  const { health } = served;
  url = served.url;
  const started: Started = {
    version: VERSION,
    url,
    dataDir: directory.path,
    database: config.databaseUrl === undefined ? "embedded" : "PostgreSQL",
    node: process.execPath,
    program: fileURLToPath(new URL("../main.ts", import.meta.url)),
  };
  process.stdout.write(command.json ? `${bannerJson(started)}\n` : bannerText(started));
  directory.announce({ url, pid: process.pid, version: VERSION });
  health.started();
  if (migrated.length > 0) log.info({ migrated }, "database brought up to date");

  const source = await lifecycle.own("instants", createLocalInstants, (local) => local.close());
  await startScheduler(lifecycle, { ...opened, source, config, log });
  // The embedded database has this one process, which nobody else can look past.
  if (config.databaseUrl !== undefined) await opened.announce("alone");
  if (command.idleStopSeconds !== undefined)
    await stopWhenIdle(lifecycle, activity, command.idleStopSeconds, log);
}

interface Served {
  readonly activity: Activity;
  readonly secretKey: string;
}

async function serve(
  lifecycle: ProcessLifecycle,
  config: AloneConfig,
  log: Log,
  opened: Awaited<ReturnType<typeof openEngine>> & Served,
) {
  const { engine, checks, activity, secretKey } = opened;
  const { host, port, allowedHosts, publicUrl } = config;
  const health = createHealth({
    checks: { database: checks.database },
    ...(config.redisUrl === undefined ? {} : { lesserChecks: { redis: checks.redis } }),
  });
  const api = await lifecycle.own(
    "api",
    () =>
      createApi({
        engine: activity.watchEngine(engine),
        log,
        health: activity.watchHealth(health),
        auth: authOf(config, opened),
        config: {
          host,
          port,
          allowedHosts,
          secretKey,
          version: VERSION,
          ...(publicUrl === undefined ? {} : { publicUrl }),
        },
        about: {
          mode: "alone",
          data: config.databaseUrl === undefined ? config.dataDir : "PostgreSQL",
          nextSteps: ["npx muster status", "npx muster item list", "npx muster claim list"],
          counts: () => countsOf(engine),
        },
      }),
    (served) => served.close(CALLS_DEADLINE_MS),
  );
  const { url } = await listenOrExplain(api, port);
  return { url, health };
}

/** Without Redis, two processes on one database would not hear of each other: only one may run. */
async function becomeSoleProcess(lifecycle: ProcessLifecycle, config: AloneConfig, log: Log): Promise<void> {
  const { databaseUrl, redisUrl } = config;
  if (databaseUrl === undefined || redisUrl !== undefined) return;
  const { takeSoleProcessLock } = await import("../../../db/dialects/sole-process-lock.ts");
  const onLost = (): void => {
    // As an error of the process, so that it ends with the code that says so.
    queueMicrotask(() => {
      throw new UnavailableError(
        "Another Muster took over this database while the connection to it was lost.",
      );
    });
  };
  await lifecycle.own(
    "sole process lock",
    async () => {
      const take = () =>
        takeSoleProcessLock({ url: databaseUrl, onLost }).catch((error: unknown) => {
          throw asStartFailure(error);
        });
      const lock = await connectWithRetry(take, {
        name: "PostgreSQL",
        log,
        signal: lifecycle.stopping,
        isFinal: (error) => error instanceof ConfigError,
      });
      if (lock !== null) return lock;
      throw new UnavailableError(
        "Another Muster already serves this database: without Redis only one process may. " +
          "Stop that one, or set MUSTER_REDIS_URL and run `muster api` and `muster scheduler`.",
      );
    },
    (lock) => lock.release(),
  );
}

async function stopWhenIdle(
  lifecycle: ProcessLifecycle,
  activity: Activity,
  idleStopSeconds: number,
  log: Log,
): Promise<void> {
  const limitMs = idleStopSeconds * 1_000;
  const loop = createPacedLoop({
    name: "idle stop",
    everyMs: Math.min(5_000, Math.max(100, limitMs / 4)),
    waitFirst: true,
    async run() {
      if (activity.idleMs() < limitMs) return;
      log.info({ idleStopSeconds }, "stopping: no client for a while");
      // Not awaited: stopping waits for this run to end.
      void lifecycle.stop();
    },
    onError: (error) => log.error({ err: error }, "idle stop failed"),
  });
  await lifecycle.own(
    "idle stop",
    () => loop.start(),
    () => loop.stop(),
  );
}
