/**
 * `muster doctor`: looks at everything a Muster needs, and says for each fault how to mend it.
 * One check is one function; a check that cannot look because of an earlier one is left out.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { EXIT } from "../../contract/errors.ts";
import { openServerConfig } from "../../engine/config/server-config.ts";
import { openEngine, type OpenEngine } from "../../engine/main.ts";
import { configFilesOf, doctorConfig, type DoctorConfig, readConfig } from "../../runtime/config.ts";
import { openDataDirectory } from "../../runtime/data-directory.ts";
import { createLifecycle, type Lifecycle } from "../../runtime/lifecycle.ts";
import { createLog } from "../../runtime/log.ts";
import { withoutCredentials } from "../../runtime/redact.ts";
import { findLocalServer } from "../find-server.ts";
import { print, table } from "../output.ts";
import { getAny } from "../rest.ts";

interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** A sweep is due every second, and an API sweeps itself after ten. */
const SWEEP_LAG_MAX_MS = 30_000;

/** Answers 0 if all is well, 1 if something is to be mended. */
export async function examine({ json }: { readonly json: boolean }): Promise<number> {
  const config = readConfig(doctorConfig);
  const findings: Finding[] = [{ check: "config", ok: true, detail: "the environment is valid" }];
  if (config.databaseUrl === undefined) findings.push(...(await examineAlone(config)));
  else findings.push(...(await examineDatabase(config, { databaseUrl: config.databaseUrl })));
  print(json, { ok: findings.every(({ ok }) => ok), findings }, () =>
    table(
      ["", "CHECK", "FINDING"],
      findings.map(({ ok, check, detail }) => [ok ? "ok" : "!!", check, detail]),
    ),
  );
  return findings.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed;
}

/** Replicas that read different files show here: all of them work on one database. */
async function lookAtConfigFile(config: DoctorConfig, opened: OpenEngine | null): Promise<Finding> {
  const check = "config file";
  const quiet = { info: () => {}, warn: () => {}, error: () => {} };
  try {
    const file = openServerConfig({ ...configFilesOf(config), log: quiet });
    file.close();
    const here = describeFile(file.path, file.current().layer.fingerprint);
    const followed = opened === null ? null : await opened.followedConfig();
    if (followed === null || followed === file.current().layer.fingerprint)
      return { check, ok: true, detail: here };
    const detail = `${here} here, and the servers follow ${describeFile("another", followed)}: give all the same`;
    return { check, ok: false, detail };
  } catch (error) {
    return { check, ok: false, detail: reasonOf(error) };
  }
}

function describeFile(path: string | null, fingerprint: string | null): string {
  return path === null || fingerprint === null ? "none" : `${path} (${fingerprint.slice(0, 12)})`;
}

/** The embedded database has one user at a time: a server that runs is asked, else it is opened. */
async function examineAlone(config: DoctorConfig): Promise<Finding[]> {
  const url = await findLocalServer(config.dataDir);
  const file = await lookAtConfigFile(config, null);
  if (url !== null) return [file, ...(await examineServer(url))];
  if (!existsSync(join(config.dataDir, "database"))) {
    const detail = `no server runs, and ${config.dataDir} holds no data yet; \`muster start\` makes it`;
    return [file, { check: "database", ok: true, detail }];
  }
  const stopped = { check: "server", ok: true, detail: "no server runs here; `muster start` starts one" };
  const found = await examineDatabase(config, {});
  // Nobody sweeps while nothing runs, and nothing has to.
  return [file, stopped, ...found.filter(({ check }) => check !== "sweep")];
}

async function examineServer(url: string): Promise<Finding[]> {
  const target = { urls: [url] };
  const [{ body: readiness }, { body: page }] = await Promise.all([
    getAny(target, "/readyz"),
    getAny(target, "/"),
  ]);
  const checks = Object.entries(
    (readiness["checks"] ?? {}) as Record<string, { ok: boolean; reason?: string }>,
  );
  const counts = (page["counts"] ?? {}) as Record<string, number>;
  const age = counts["seconds since the last sweep"];
  return [
    { check: "server", ok: true, detail: `answers at ${url}` },
    ...checks.map(([check, { ok, reason }]) => ({
      check,
      ok,
      detail: ok ? "as it should be" : (reason ?? "away"),
    })),
    ...(age === undefined ? [] : [sweepFinding(age * 1_000)]),
  ];
}

interface Where {
  readonly databaseUrl?: string;
}

async function examineDatabase(config: DoctorConfig, where: Where): Promise<Finding[]> {
  const lifecycle = createLifecycle();
  const log = createLog({ service: "doctor", level: "fatal", to: "stderr" });
  try {
    const databasePath = where.databaseUrl === undefined ? await takeDirectory(config, lifecycle) : undefined;
    const opened = await openEngine(lifecycle, {
      ...where,
      databasePath,
      redisUrl: config.redisUrl,
      applicationName: "muster doctor",
      log,
    });
    const found = await lookAtDatabase(opened);
    const hasSchema = found.some(({ check, ok }) => check === "schema" && ok);
    // Alone, the file that lies here is the one that the next start follows.
    const compared = where.databaseUrl !== undefined && hasSchema;
    return [
      ...found,
      ...(where.databaseUrl === undefined ? [] : [await lookAtConfigFile(config, compared ? opened : null)]),
      ...(config.redisUrl === undefined ? [] : [await lookAtRedis(opened)]),
    ];
  } catch (error) {
    return [{ check: "database", ok: false, detail: reasonOf(error) }];
  } finally {
    await lifecycle.stop();
  }
}

async function takeDirectory(config: DoctorConfig, lifecycle: Lifecycle): Promise<string> {
  const directory = await lifecycle.own(
    "data directory",
    () => openDataDirectory(config.dataDir),
    (opened) => opened.release(),
  );
  return directory.databasePath;
}

async function lookAtDatabase({ checks, checkSchema, engine }: OpenEngine): Promise<Finding[]> {
  try {
    await checks.database(AbortSignal.timeout(10_000));
  } catch (error) {
    const detail = `not reachable: ${reasonOf(error)}. Check that it runs, and MUSTER_DATABASE_URL`;
    return [{ check: "database", ok: false, detail }];
  }
  const reached = { check: "database", ok: true, detail: "reachable" };
  try {
    await checkSchema();
  } catch (error) {
    return [reached, { check: "schema", ok: false, detail: reasonOf(error) }];
  }
  const current = { check: "schema", ok: true, detail: "current" };
  return [reached, current, sweepFinding(await engine.sweepAgeMs())];
}

function sweepFinding(ageMs: number | null): Finding {
  if (ageMs === null) return { check: "sweep", ok: true, detail: "nobody has swept yet" };
  const seconds = Math.round(ageMs / 1_000);
  if (ageMs <= SWEEP_LAG_MAX_MS) return { check: "sweep", ok: true, detail: `${seconds} s ago` };
  const detail = `the last one was ${seconds} s ago: no server and no scheduler runs, or none reaches the database`;
  return { check: "sweep", ok: false, detail };
}

async function lookAtRedis({ checks }: OpenEngine): Promise<Finding> {
  try {
    await checks.redis(AbortSignal.timeout(10_000));
    return { check: "redis", ok: true, detail: "reachable, evicts nothing" };
  } catch (error) {
    return {
      check: "redis",
      ok: false,
      detail: `${reasonOf(error)}. Check that it runs, and MUSTER_REDIS_URL`,
    };
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(reasonOf).join("; ");
  return withoutCredentials(error instanceof Error ? error.message : String(error));
}
