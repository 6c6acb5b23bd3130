/**
 * `muster doctor`: looks at everything a Muster needs, and says for each fault how to mend it.
 * One check is one file; a check that cannot look because of an earlier fault is left out.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { EXIT } from "../../contract/errors.ts";
import { openServerConfig } from "../../engine/config/server-config.ts";
import { openEngine, type OpenEngine } from "../../engine/main.ts";
import { configFilesOf, type DoctorConfig } from "../../runtime/config.ts";
import { openDataDirectory } from "../../runtime/data-directory.ts";
import { createLifecycle, type Lifecycle } from "../../runtime/lifecycle.ts";
import { createLog } from "../../runtime/log.ts";
import { findLocalServer } from "../find-server.ts";
import { print, table } from "../output.ts";
import { getAny } from "../rest.ts";
import { lookAtClock } from "./checks/clock.ts";
import { lookAtConfigFile, type ReadFile } from "./checks/config-file.ts";
import { lookAtCopies } from "./checks/copies.ts";
import { lookAtDatabase } from "./checks/database.ts";
import { lookAtEnvironment } from "./checks/environment.ts";
import { lookAtPool } from "./checks/pool.ts";
import { lookAtProcesses } from "./checks/processes.ts";
import { lookAtRedis } from "./checks/redis.ts";
import { lookAtRedisMemory } from "./checks/redis-memory.ts";
import { lookAtScheduler } from "./checks/scheduler.ts";
import { lookAtObjects } from "./checks/schema-objects.ts";
import { lookAtSchema } from "./checks/schema.ts";
import { judgeSweepAge, lookAtSweep } from "./checks/sweep.ts";
import { type CheckFunc, fault, type Finding, type Patient, reasonOf, well } from "./finding.ts";

export interface Examination {
  readonly json: boolean;
  /** Mend what can be mended here: the copies in `item_state`. */
  readonly repair: boolean;
}

/** Answers 0 if all is well, 1 if something is to be mended. */
export async function examine({ json, repair }: Examination): Promise<number> {
  const { config, finding } = lookAtEnvironment();
  const findings = [finding, ...(config === null ? [] : await examineConfigured(config, repair))];
  const ok = findings.every((one) => one.ok);
  print(json, { ok, findings }, () => describe(findings));
  return ok ? EXIT.ok : EXIT.failed;
}

function describe(findings: readonly Finding[]): string {
  const rows = findings.map(({ ok, check, detail }) => [
    ok ? "ok" : "!!",
    check,
    detail.replaceAll("\n", " "),
  ]);
  const [head = "", ...lines] = table(["", "CHECK", "FINDING"], rows).split("\n");
  const mended = lines.flatMap((line, index) => {
    const mend = findings[index]?.mend;
    return mend === undefined ? [line] : [line, `      -> ${mend}`];
  });
  return [head, ...mended].join("\n");
}

async function examineConfigured(config: DoctorConfig, repair: boolean): Promise<Finding[]> {
  if (config.databaseUrl !== undefined) {
    return await examineDatabase(config, repair, { databaseUrl: config.databaseUrl });
  }
  return await examineAlone(config, repair);
}

/** The embedded database has one user at a time: a server that runs is asked, else it is opened. */
async function examineAlone(config: DoctorConfig, repair: boolean): Promise<Finding[]> {
  const url = await findLocalServer(config.dataDir);
  const file = await lookAtConfigFile(readFileOf(config), NOBODY);
  if (url !== null) return [file, ...(await examineServer(url))];
  if (!existsSync(join(config.dataDir, "database"))) {
    const detail = `no server runs, and ${config.dataDir} holds no data yet; \`muster start\` makes it`;
    return [file, well("database", detail)];
  }
  const stopped = well("server", "no server runs here; `muster start` starts one");
  return [file, stopped, ...(await examineDatabase(config, repair, {}))];
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
    well("server", `answers at ${url}; what only its database tells is looked at while it is stopped`),
    ...checks.map(([check, { ok, reason }]) =>
      ok
        ? well(check, "as it should be")
        : fault(check, reason ?? "away", "The server's log says more; restart it if it does not come back."),
    ),
    ...(age === undefined ? [] : [judgeSweepAge(age * 1_000)]),
  ];
}

interface Where {
  readonly databaseUrl?: string;
}

async function examineDatabase(config: DoctorConfig, repair: boolean, where: Where): Promise<Finding[]> {
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
    return await examineOpened(config, opened, repair);
  } catch (error) {
    const mend = "Check the address or the folder, and who may use it.";
    return [fault("database", reasonOf(error), mend)];
  } finally {
    await lifecycle.stop();
  }
}

/** What anybody's database has. */
const WITH_SCHEMA: readonly CheckFunc[] = [lookAtObjects, lookAtCopies];
/** What a database that others serve has besides: alone, nobody sweeps while nothing runs, and nothing has to. */
const SHARED: readonly CheckFunc[] = [lookAtClock, lookAtSweep, lookAtScheduler, lookAtProcesses, lookAtPool];

async function examineOpened(config: DoctorConfig, opened: OpenEngine, repair: boolean): Promise<Finding[]> {
  const { diagnosis, checks, checkSchema } = opened;
  const patient: Patient = { diagnosis, reach: checks.database, checkSchema, repair };
  const isShared = config.databaseUrl !== undefined;
  const found = [await lookAtDatabase(patient)];
  if (found[0]?.ok === true) found.push(await lookAtSchema(patient));
  const hasSchema = found.length > 1 && found.every((one) => one.ok);
  for (const check of hasSchema ? [...WITH_SCHEMA, ...(isShared ? SHARED : [])] : []) {
    found.push(await look(check, patient));
  }
  // Alone, the file that lies here is the one that the next start follows.
  const followed = hasSchema ? opened.followedConfig : NOBODY;
  if (isShared) found.push(await lookAtConfigFile(readFileOf(config), followed));
  if (config.redisUrl === undefined) return found;
  found.push(await lookAtRedis(patient));
  if (hasSchema) found.push(await look(lookAtRedisMemory, patient));
  return found;
}

const NOBODY = (): Promise<null> => Promise.resolve(null);
const SILENT = { info: () => {}, warn: () => {}, error: () => {} };

function readFileOf(config: DoctorConfig): () => ReadFile {
  return () => {
    const file = openServerConfig({ ...configFilesOf(config), log: SILENT });
    file.close();
    return { path: file.path, fingerprint: file.current().layer.fingerprint };
  };
}

/** A check that breaks is a finding, and stops no other. */
async function look(check: CheckFunc, patient: Patient): Promise<Finding> {
  try {
    return await check(patient);
  } catch (error) {
    const mend = "Run the doctor again; if it stays, the database's own log says more.";
    return fault(check.name, `could not look: ${reasonOf(error)}`, mend);
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
