/** `muster scheduler`: one of the schedulers of a fleet. */
import { openEngine } from "../engine/main.ts";
import { configFilesOf, readConfig, schedulerConfig } from "../runtime/config.ts";
import { runProcess } from "../runtime/lifecycle.ts";
import { createMetrics } from "../runtime/metrics/metrics.ts";
import { startMetrics } from "../runtime/metrics/start-metrics.ts";
import { createLog } from "../runtime/log.ts";
import { VERSION } from "../runtime/version.ts";
import { createBullmqInstants } from "./bullmq-instants.ts";
import { startScheduler } from "./start-scheduler.ts";

export interface SchedulerCommand {
  /** Bring the database up to date first. */
  readonly migrate: boolean;
  readonly json: boolean;
}

/** Runs until it is told to stop, and ends the process. */
export async function runScheduler(command: SchedulerCommand): Promise<void> {
  await runProcess(async (lifecycle) => {
    const config = readConfig(schedulerConfig);
    const log = createLog({ service: "scheduler", level: config.logLevel, to: "stderr" });
    lifecycle.logTo(log);
    const metrics = createMetrics();
    const opened = await openEngine(lifecycle, {
      databaseUrl: config.databaseUrl,
      redisUrl: config.redisUrl,
      applicationName: "muster scheduler",
      configFiles: configFilesOf(config),
      watcher: metrics,
      privateWebhooks: config.webhooksAllowPrivate,
      secretKey: config.secretKey,
      log,
    });
    await startMetrics(lifecycle, metrics, { ...opened, config, log });
    await opened.prepare({ migrate: command.migrate });
    await opened.checkCoordination();
    const source = await lifecycle.own(
      "instants",
      () => createBullmqInstants({ url: config.redisUrl, log }),
      (started) => started.close(),
    );
    await startScheduler(lifecycle, { ...opened, source, config, log });
    await opened.announce("scheduler");
    const line = command.json
      ? JSON.stringify({ event: "running", version: VERSION, pid: process.pid })
      : `Muster ${VERSION} scheduler running`;
    process.stdout.write(`${line}\n`);
  });
}
