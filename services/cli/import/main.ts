/** `muster import`: brings the database of another tool over, and says exactly what stayed away, and why. */
import { openServerConfig } from "../../engine/config/server-config.ts";
import { openEngine, type OpenEngine } from "../../engine/main.ts";
import type { ImportReport, Remark } from "../../engine/import/import-report.ts";
import { EXIT } from "../../contract/errors.ts";
import {
  openTaskOrchestratorFile,
  type TaskOrchestratorFile,
  UnfitFile,
} from "../../engine/import/task-orchestrator-file.ts";
import { configFilesOf, doctorConfig, type DoctorConfig, readConfig } from "../../runtime/config.ts";
import { openDataDirectory } from "../../runtime/data-directory.ts";
import { ConfigError, ExitError } from "../../runtime/exit.ts";
import { createLifecycle, type Lifecycle } from "../../runtime/lifecycle.ts";
import { createLog, type Log } from "../../runtime/log.ts";
import { print, table } from "../output.ts";

export async function importFile(path: string, { json }: { readonly json: boolean }): Promise<void> {
  await withDatabase("import", async (opened, lifecycle) => {
    const source = await lifecycle.own(
      "file to import",
      () => openFile(path),
      (file) => file.close(),
    );
    const report = await opened.transfers.importGraph(source);
    print(json, report, () => describe(report));
  });
}

/** Works on the database that the environment names: directly, since no server need run, and embedded none may. */
export async function withDatabase(
  service: "import" | "export",
  work: (opened: OpenEngine, lifecycle: Lifecycle) => Promise<void>,
): Promise<void> {
  const config = readConfig(doctorConfig);
  const log = createLog({ service, level: "warn", to: "stderr" });
  const lifecycle = createLifecycle();
  const stop = (): void => void lifecycle.stop().catch(() => undefined);
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    const opened = await openEngine(lifecycle, {
      databaseUrl: config.databaseUrl,
      databasePath: config.databaseUrl === undefined ? await takeDirectory(config.dataDir) : undefined,
      redisUrl: config.redisUrl,
      configFiles: configFilesOf(config),
      applicationName: `muster ${service}`,
      log,
    });
    if (config.databaseUrl !== undefined) await refuseOtherConfig(opened, config, log);
    // Alone there is nobody else to do it; a fleet brings its database up to date by itself.
    await opened.prepare({ migrate: config.databaseUrl === undefined });
    await work(opened, lifecycle);
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
    await lifecycle.stop();
  }

  async function takeDirectory(dataDir: string): Promise<string> {
    const directory = await lifecycle.own(
      "data directory",
      () => openDataDirectory(dataDir),
      (opened) => opened.release(),
    );
    return directory.databasePath;
  }
}

/** By another file, gates would be set that no server means. */
async function refuseOtherConfig(opened: OpenEngine, config: DoctorConfig, log: Log): Promise<void> {
  await opened.checkSchema();
  const followed = await opened.followedConfig();
  const file = openServerConfig({ ...configFilesOf(config), log });
  file.close();
  if (followed === null || followed === file.current().layer.fingerprint) return;
  throw new ConfigError(
    "The servers of this database follow another configuration file than the one that is here: " +
      "set MUSTER_CONFIG to a copy of theirs.",
  );
}

function openFile(path: string): TaskOrchestratorFile {
  try {
    return openTaskOrchestratorFile(path);
  } catch (error) {
    throw error instanceof UnfitFile ? new ExitError(EXIT.refused, error.message, { cause: error }) : error;
  }
}

/** Everything that stayed away is listed: with --json as well, for programs. */
export function describe(report: ImportReport): string {
  const rows = Object.entries(report.tables).map(([name, tally]) => [
    name,
    String(tally.found),
    String(tally.imported),
    String(tally.alreadyThere),
    String(tally.leftOut),
  ]);
  const claims = report.claimsReleased;
  return [
    table(["TABLE", "FOUND", "IMPORTED", "WAS THERE", "LEFT OUT"], rows),
    ...(claims === 0 ? [] : [`${claims} ${claims === 1 ? "claim was" : "claims were"} released.`]),
    ...listed("Left out:", report.leftOut),
    ...listed("Changed:", report.changed),
    ...(report.remarksDropped === 0 ? [] : [`… and ${report.remarksDropped} remarks more.`]),
  ].join("\n");
}

function listed(head: string, remarks: readonly Remark[]): string[] {
  if (remarks.length === 0) return [];
  return [head, ...remarks.map(({ table: name, id, reason }) => `  ${name} ${id}: ${oneLine(reason)}`)];
}

/** Texts of the file come from agents: control characters in them must not reach the terminal. */
function oneLine(text: string): string {
  return text.replaceAll(/\p{C}+/gu, " ").trim();
}
