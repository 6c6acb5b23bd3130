/**
 * Opens an engine over the adapters that the configuration names: the part of a start that
 * is the same alone and in a fleet. Nothing is reached yet when it returns; `prepare` does
 * that, so that a server can say meanwhile what it waits for.
 */
import { basename, dirname } from "node:path";
import { sql } from "kysely";
import { migrate, missingMigrations, NewerSchemaError } from "../../db/migrate.ts";
import { type OpenDatabase, openDatabase, type PoolUse } from "../../db/open.ts";
import { sqlState } from "../../db/transaction.ts";
import { createLocalCoordination } from "../coordination/local/local-coordination.ts";
import type { Coordination, Counters, WakeUps } from "../coordination/port.ts";
import { ConfigError, UnavailableError } from "../runtime/exit.ts";
import { type Check, CheckFailure } from "../runtime/health.ts";
import type { Lifecycle } from "../runtime/lifecycle.ts";
import type { Log } from "../runtime/log.ts";
import { connectWithRetry } from "../runtime/retry.ts";
import {
  type AccessTokenOptions,
  type AccessTokens,
  createAccessTokens,
  UnclearIssuer,
} from "../verification/create-access-token-verifier.ts";
import { VERSION } from "../runtime/version.ts";
import { createVerifier } from "../verification/create-verifier.ts";
import type { ActorRules } from "./actors/actor-rules.ts";
import { rememberFromNow } from "./actors/admit-actors.ts";
import type { DegradedModePolicy } from "./actors/policy.ts";
import { createDatabaseTime } from "./database-time.ts";
import { findCoordinationFault } from "./coordination-fault.ts";
import { createEngine } from "./create-engine.ts";
import { createGauges, type Gauges } from "./gauges.ts";
import { createDiagnosis } from "./diagnosis.ts";
import type { Diagnosis } from "./facts.ts";
import { announce } from "./presence/main.ts";
import type { ProcessKind } from "./presence/presence.ts";
import { defaultPolicies, type EngineDeps } from "./deps.ts";
import { actorAuthentication } from "../contract/config/actor-authentication.ts";
import { followFile } from "./config/follow-file.ts";
import { followedServerConfig } from "./config/refresh-copies.ts";
import { createSchemaSource } from "./config/schema-source.ts";
import { BrokenServerConfig, openServerConfig, type ServerConfigFile } from "./config/server-config.ts";
import type { Engine } from "./engine.ts";
import { createTransfers, type Transfers } from "./bundle/transfers.ts";
import { createInstants, type Instants } from "./instants.ts";
import { type Credentials, createCredentials } from "./tokens/credentials.ts";
import { settingsOf } from "./settings-of.ts";
import { sharedSecret } from "./shared-secret.ts";
import { createWebhooks, type Webhooks } from "./webhooks/webhooks.ts";

export interface EngineOptions {
  /** PostgreSQL; without it, the embedded database in `databasePath`. */
  readonly databaseUrl?: string | undefined;
  readonly databasePath?: string | undefined;
  /** Coordination of a fleet; without it, this process coordinates itself. */
  readonly redisUrl?: string | undefined;
  readonly applicationName: string;
  /** Where the configuration file may be; nothing is configured without. */
  readonly configFiles?: { readonly paths: readonly string[]; readonly required: boolean };
  /** Folder that `bodyFromFile` reads from; off without. */
  readonly filesDir?: string | undefined;
  /** Seals the secrets of webhooks; without it there can be none. */
  readonly secretKey?: string | undefined;
  readonly privateWebhooks?: boolean | undefined;
  /** False takes no resources; what was taken is still let go of. True if it does not say. */
  readonly resourceLeases?: boolean | undefined;
  /** Wins over what the configuration file says. */
  readonly degradedModePolicy?: DegradedModePolicy | undefined;
  /** Access tokens of an authorization server open the doors too. */
  readonly accessTokens?: AccessTokenOptions | undefined;
  readonly log: Log;
  readonly watcher?: NonNullable<EngineDeps["watcher"]>;
}

export interface OpenEngine {
  readonly engine: Engine;
  readonly instants: Instants;
  /** Judges what callers come with. */
  readonly credentials: Credentials;
  /** Whom clients get access tokens from. */
  readonly authorizationServers: readonly string[];
  /** Counts for all replicas. */
  readonly wakeUps: WakeUps;
  readonly webhooks: Webhooks;
  readonly counters: Counters;
  /** Waits for the database and checks its schema, or brings it up to date. Answers what it migrated. */
  prepare(options: { readonly migrate: boolean }): Promise<readonly string[]>;
  /** Looks once, without waiting. @throws ConfigError when the schema is missing, old or newer. */
  checkSchema(): Promise<void>;
  /** Refuses a Redis that may lose what must not be lost. One that is away is waited for elsewhere. */
  checkCoordination(): Promise<void>;
  /** What signs session ids in a fleet that was given no key. */
  sharedSecret(): Promise<string>;
  /** Fingerprint of the configuration file that the servers of this database follow; null: of none. */
  followedConfig(): Promise<string | null>;
  /** Says, from now until the lifecycle ends, that this process serves. */
  announce(kind: ProcessKind): Promise<void>;
  readonly diagnosis: Diagnosis;
  readonly transfers: Transfers;
  /** Numbers a few seconds old at most; the pool is null for the embedded database. */
  readonly gauges: () => Promise<Gauges>;
  readonly pool: () => PoolUse | null;
  readonly checks: { readonly database: Check; readonly redis: Check };
}

/** Closes with the lifecycle, in reverse order. */
export async function openEngine(lifecycle: Lifecycle, options: EngineOptions): Promise<OpenEngine> {
  const { log } = options;
  const config = await lifecycle.own(
    "configuration file",
    () => openConfig(options),
    (opened) => opened.close(),
  );
  const database = await lifecycle.own(
    "database",
    () => open(options),
    (opened) => opened.close(),
  );
  const coordination = await lifecycle.own(
    "coordination",
    () => openCoordination(options),
    (opened) => opened.close(),
  );
  const deps = depsOf(options, config, database, coordination);
  const engine = await lifecycle.own(
    "engine",
    () => createEngine(deps),
    (opened) => opened.close(),
  );
  const accessTokens = accessTokensOf(options, config);
  const credentials = await lifecycle.own(
    "credentials",
    () => createCredentials(deps, { accessTokens: accessTokens?.verifier ?? null }),
    (opened) => opened.close(),
  );
  const follow = followFile(deps, config);
  return {
    engine,
    instants: createInstants(deps),
    credentials,
    authorizationServers: accessTokens?.authorizationServers ?? [],
    counters: coordination.counters,
    wakeUps: coordination.wakeUps,
    webhooks: createWebhooks(deps),
    async prepare(how) {
      const migrated = await connectWithRetry(() => prepareSchema(database, how.migrate), {
        name: database.kind === "pg" ? "PostgreSQL" : "the embedded database",
        log,
        signal: lifecycle.stopping,
        isFinal: (error) => error instanceof ConfigError,
      });
      if (options.configFiles !== undefined) await follow(config.current());
      await rememberFromNow(deps);
      return migrated;
    },
    checkSchema: async () => void (await prepareSchema(database, false)),
    async checkCoordination() {
      const fault = await findCoordinationFault(coordination, log, lifecycle.stopping);
      if (fault !== null) throw new ConfigError(`Redis is not fit for Muster: ${fault}`);
    },
    sharedSecret: () => sharedSecret(deps),
    followedConfig: () => followedServerConfig(deps.db),
    announce: (kind) => announce(lifecycle, log, { database, kind, version: VERSION, config }),
    diagnosis: createDiagnosis(database, coordination),
    transfers: createTransfers(deps, VERSION),
    gauges: createGauges(database.db),
    pool: database.poolUse,
    checks: checksOf(database, coordination),
  };
}

function checksOf(database: OpenDatabase, coordination: Coordination): OpenEngine["checks"] {
  return {
    database: async () => void (await sql`select 1`.execute(database.db)),
    redis: async () => {
      const { state, fault } = await coordination.health();
      if (state === "down") throw new CheckFailure("unavailable");
      if (fault !== undefined) throw new CheckFailure(fault);
    },
  };
}

function depsOf(
  options: EngineOptions,
  config: ServerConfigFile,
  database: OpenDatabase,
  coordination: Coordination,
): EngineDeps {
  const { log } = options;
  return {
    db: database.db,
    coordination,
    time: createDatabaseTime(database.db),
    log,
    ...(options.watcher && { watcher: options.watcher }),
    settings: settingsOf(options, config.current()),
    policyOf: defaultPolicies,
    schemas: createSchemaSource({ server: () => config.current().layer, log }),
    actors: actorRulesOf(options, config),
    random: Math.random,
  };
}

function actorRulesOf({ degradedModePolicy, log }: EngineOptions, config: ServerConfigFile): ActorRules {
  const section = config.current().actorAuthentication ?? actorAuthentication.parse(undefined);
  const policy = degradedModePolicy ?? section.degraded_mode_policy;
  const verifier = createVerifier(section.verifier, { folder: projectFolder(config.path) });
  if (verifier === null && policy === "reject")
    log.warn({}, "every change will be refused: actors have to be verified, and no verifier is configured");
  return { verifier, policy, singleUseProofs: section.verifier.jti_replay_protection };
}

function accessTokensOf({ accessTokens }: EngineOptions, config: ServerConfigFile): AccessTokens | null {
  if (accessTokens === undefined) return null;
  const section = config.current().actorAuthentication ?? actorAuthentication.parse(undefined);
  try {
    return createAccessTokens(accessTokens, section.verifier, projectFolder(config.path));
  } catch (error) {
    throw error instanceof UnclearIssuer ? new ConfigError(error.message, { cause: error }) : error;
  }
}

/** Where relative paths of a configuration file start: beside it, or beside the folder of its own that it is in. */
function projectFolder(file: string | null): string {
  if (file === null) return process.cwd();
  const folder = dirname(file);
  return basename(folder) === ".taskorchestrator" ? dirname(folder) : folder;
}

/** A broken file ends the start: without it, gates would stand open that somebody meant to close. */
function openConfig({ configFiles = { paths: [], required: false }, log }: EngineOptions): ServerConfigFile {
  try {
    return openServerConfig({ ...configFiles, log });
  } catch (error) {
    throw error instanceof BrokenServerConfig ? new ConfigError(error.message, { cause: error }) : error;
  }
}

async function open(options: EngineOptions): Promise<OpenDatabase> {
  const { databaseUrl, databasePath, applicationName, log } = options;
  try {
    return await openDatabase({
      url: databaseUrl,
      dataDir: databasePath,
      applicationName,
      onIdleError: (error) => log.warn({ err: error }, "database connection lost while idle"),
    });
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new UnavailableError(
      `The embedded database in ${databasePath ?? "memory"} cannot be opened: ${cause}. ` +
        "Restore the folder from a backup, or move it away to begin anew.",
      { cause: error },
    );
  }
}

async function openCoordination({ redisUrl, log }: EngineOptions): Promise<Coordination> {
  if (redisUrl === undefined) return createLocalCoordination();
  const { createRedisCoordination } = await import("../coordination/redis/redis-coordination.ts");
  return createRedisCoordination({ url: redisUrl, log });
}

async function prepareSchema({ db }: OpenDatabase, mayMigrate: boolean): Promise<readonly string[]> {
  try {
    if (mayMigrate) return await migrate(db);
    const missing = await missingMigrations(db);
    if (missing.length === 0) return [];
    throw new ConfigError(
      `The database lacks the migrations ${missing.join(", ")}. Run \`muster migrate\` first, ` +
        "or start this process with --migrate.",
    );
  } catch (error) {
    throw asStartFailure(error);
  }
}

/** SQLSTATE classes of what no further try cures: refused credentials, an unknown database, missing rights. */
const REFUSED = ["28", "3D", "42501"];

/** What a database says at the start, as an error that ends the process if no further try can help. */
export function asStartFailure(error: unknown): unknown {
  if (error instanceof ConfigError) return error;
  if (error instanceof NewerSchemaError) {
    const { unknown } = error;
    const message =
      `The database has migrations that this version does not know (${unknown.join(", ")}). ` +
      "Run the newer version of Muster, or restore an older backup.";
    return new ConfigError(message, { cause: error });
  }
  const state = sqlState(error);
  if (state === undefined || !REFUSED.some((prefix) => state.startsWith(prefix))) return error;
  const cause = error instanceof Error ? error.message : String(error);
  return new ConfigError(
    `PostgreSQL refuses: ${cause}. Check MUSTER_DATABASE_URL and the rights of its user.`,
    {
      cause: error,
    },
  );
}
