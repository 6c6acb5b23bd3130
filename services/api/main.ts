/**
 * `muster api`: one of the API processes of a fleet. It listens first and reaches its
 * database afterwards, so that `/readyz` can say what it waits for.
 */
import { openEngine } from "../engine/main.ts";
import { apiConfig, type ApiConfig, configFilesOf, readConfig } from "../runtime/config.ts";
import { createHealth } from "../runtime/health.ts";
import { runProcess } from "../runtime/lifecycle.ts";
import { createMetrics } from "../runtime/metrics/metrics.ts";
import { startMetrics } from "../runtime/metrics/start-metrics.ts";
import { watchOperations } from "../runtime/metrics/watch-operations.ts";
import { createLog } from "../runtime/log.ts";
import { VERSION } from "../runtime/version.ts";
import { createStandInSweep } from "../scheduler/stand-in-sweep.ts";
import { accessTokensOf, authOf } from "./auth/configure.ts";
import { countsOf } from "./counts.ts";
import { createApi } from "./create-api.ts";
import { listenOrExplain } from "./listen.ts";

export interface ApiCommand {
  /** Bring the database up to date first. */
  readonly migrate: boolean;
  readonly json: boolean;
}

/** Part of the stop that calls in flight may use; the rest is for letting go of what they used. */
const CALLS_DEADLINE_MS = 15_000;

/** Runs until it is told to stop, and ends the process. */
export async function runApi(command: ApiCommand): Promise<void> {
  await runProcess(async (lifecycle) => {
    const config = readConfig(apiConfig);
    const log = createLog({ service: "api", level: config.logLevel, to: "stderr" });
    lifecycle.logTo(log);
    let url = "";
    const metrics = createMetrics();
    const opened = await openEngine(lifecycle, {
      databaseUrl: config.databaseUrl,
      redisUrl: config.redisUrl,
      applicationName: "muster api",
      configFiles: configFilesOf(config),
      filesDir: config.filesDir,
      resourceLeases: config.resourceLeasesEnforced,
      privateWebhooks: config.webhooksAllowPrivate,
      secretKey: config.secretKey,
      degradedModePolicy: config.degradedModePolicy,
      accessTokens: accessTokensOf(config, () => url),
      watcher: metrics,
      log,
    });
    const { checks } = opened;
    const engine = watchOperations(opened.engine, metrics);
    const health = createHealth({
      checks: { database: checks.database },
      lesserChecks: { redis: checks.redis },
    });
    const secret = createSecret(config);
    const api = await lifecycle.own(
      "api",
      () =>
        createApi({
          engine,
          log,
          onAnswered: metrics.http,
          health,
          auth: authOf(config, opened),
          config: { ...listeningOf(config), secretKey: secret.read, version: VERSION },
          about: {
            mode: "as one of a fleet",
            data: "PostgreSQL",
            nextSteps: ["muster status", "muster claim list", "muster agent list"],
            counts: () => countsOf(engine),
          },
        }),
      (started) => started.close(CALLS_DEADLINE_MS),
    );
    ({ url } = await listenOrExplain(api, config.port));
    const line = command.json
      ? JSON.stringify({ event: "listening", version: VERSION, url, pid: process.pid })
      : `Muster ${VERSION} listening on ${url}`;
    process.stdout.write(`${line}\n`);

    await startMetrics(lifecycle, metrics, { ...opened, config, log });
    await opened.prepare({ migrate: command.migrate });
    await opened.checkCoordination();
    secret.settle(config.secretKey ?? (await opened.sharedSecret()));
    const sweep = createStandInSweep({ engine, log });
    await lifecycle.own(
      "sweep",
      () => sweep.start(),
      () => sweep.stop(),
    );
    health.started();
    await opened.announce("api");
    log.info({ url }, "serving");
  });
}

function listeningOf({ host, port, allowedHosts, publicUrl }: ApiConfig) {
  return { host, port, allowedHosts, ...(publicUrl === undefined ? {} : { publicUrl }) };
}

/** The key is in the database unless it was given; nothing that needs it is served before it is there. */
function createSecret({ secretKey }: ApiConfig) {
  let settled = secretKey;
  return {
    settle: (key: string): void => {
      settled = key;
    },
    read: (): string => {
      if (settled === undefined) throw new Error("A session was asked for before the server had started.");
      return settled;
    },
  };
}
