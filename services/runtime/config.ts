/**
 * Configuration of a process: read once, at its start, from the environment. Everything that is
 * wrong is said at once, with the name of the variable, and the process ends with 78: a fault per
 * restart is how a deployment takes an afternoon.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { ConfigError } from "./exit.ts";
import {
  admitting,
  behaving,
  coordinating,
  isLoopback,
  listening,
  observing,
  reaching,
  sealing,
  storing,
  VARIABLES,
} from "./settings.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type Issue = z.core.$ZodIssue;

// Judged also when something else is wrong, so that all faults are named at once.
const whenReadable = ({ value }: { readonly value: unknown }): boolean =>
  typeof value === "object" && value !== null;

/** Where others can reach the door, they have to say who they are. */
const guarded = {
  path: ["host"],
  error:
    "is not a loopback address: without authentication anybody on the network could act. " +
    "Use 127.0.0.1, or set MUSTER_AUTH to token or jwt",
  when: whenReadable,
};

function isGuarded({ host, auth }: { readonly host: string; readonly auth: string }): boolean {
  return auth !== "off" || typeof host !== "string" || isLoopback(host);
}

/** `muster start`: one process that does everything, embedded unless told otherwise. */
export const aloneConfig = z
  .object({
    ...listening,
    ...admitting,
    ...storing,
    ...coordinating,
    ...behaving,
    logLevel: observing.logLevel,
  })
  .refine(isGuarded, guarded)
  .refine(({ databaseUrl, redisUrl }) => redisUrl === undefined || databaseUrl !== undefined, {
    path: ["redisUrl"],
    error:
      "is set without MUSTER_DATABASE_URL: the embedded database serves one process, which needs no Redis. " +
      "Set both, or neither",
    when: whenReadable,
  });

/** `muster api`: one of several. */
export const apiConfig = z
  .object({
    ...listening,
    ...admitting,
    ...storing,
    databaseUrl: storing.databaseUrl.unwrap(),
    redisUrl: coordinating.redisUrl.unwrap(),
    ...behaving,
    ...observing,
  })
  .refine(isGuarded, guarded);

/** `muster scheduler`: one of several; nobody calls it. */
export const schedulerConfig = z.object({
  ...sealing,
  ...storing,
  databaseUrl: storing.databaseUrl.unwrap(),
  redisUrl: coordinating.redisUrl.unwrap(),
  ...behaving,
  ...observing,
});

/** `muster migrate`: works on the database and ends. */
export const databaseConfig = z.object({ ...storing, logLevel: observing.logLevel });

/** `muster doctor`: everything that any process would read, so that every fault is found. */
export const doctorConfig = z.object({
  ...listening,
  ...admitting,
  ...storing,
  ...coordinating,
  ...behaving,
  ...observing,
  ...reaching,
});

/** `muster mcp`, `muster work` and the other clients. */
export const clientConfig = z.object({
  ...reaching,
  dataDir: storing.dataDir,
  logLevel: observing.logLevel.default("warn"),
});

export type AloneConfig = Readonly<z.output<typeof aloneConfig>>;
export type ApiConfig = Readonly<z.output<typeof apiConfig>>;
export type SchedulerConfig = Readonly<z.output<typeof schedulerConfig>>;
export type DatabaseConfig = Readonly<z.output<typeof databaseConfig>>;
export type DoctorConfig = Readonly<z.output<typeof doctorConfig>>;
export type ClientConfig = Readonly<z.output<typeof clientConfig>>;

/** Where the configuration file may be. One that somebody named has to be there. */
export function configFilesOf({
  configFile,
  dataDir,
}: {
  configFile?: string | undefined;
  dataDir: string;
}): {
  readonly paths: readonly string[];
  readonly required: boolean;
} {
  if (configFile !== undefined) return { paths: [configFile], required: true };
  const paths = [join(dataDir, "config.yaml"), resolve(".taskorchestrator", "config.yaml")];
  return { paths, required: false };
}

/**
 * The frozen configuration of one process.
 * @throws ConfigError naming every fault.
 */
export function readConfig<S extends z.ZodObject>(
  schema: S,
  environment: Environment = process.env,
): Readonly<z.output<S>> {
  const faults: Issue[] = [];
  const raw: Record<string, string | undefined> = {};
  for (const key of Object.keys(schema.shape)) raw[key] = readVariable(key, environment, faults);
  const parsed = schema.safeParse(raw);
  if (parsed.success && faults.length === 0) return Object.freeze(parsed.data);
  const all = [...faults, ...(parsed.error?.issues ?? []).map(nameVariable)];
  throw new ConfigError(`The configuration is not valid:\n${z.prettifyError({ issues: all })}`);
}

/** An empty variable counts as absent: that is what a line `NAME=` in a compose file means. */
function readVariable(key: string, environment: Environment, faults: Issue[]): string | undefined {
  const variable: { name: string; secret?: true } | undefined = VARIABLES[key as keyof typeof VARIABLES];
  if (variable === undefined) throw new Error(`No variable is known for the setting ${key}.`);
  const value = environment[variable.name] || undefined;
  const fileName = `${variable.name}_FILE`;
  const file = variable.secret ? environment[fileName] || undefined : undefined;
  if (file === undefined) return value;
  if (value !== undefined)
    faults.push(fault(fileName, `is set together with ${variable.name}; keep one of them`));
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    faults.push(fault(fileName, `cannot be read: ${error instanceof Error ? error.message : String(error)}`));
    return value;
  }
}

function fault(name: string, message: string): Issue {
  return { code: "custom", path: [name], message, input: undefined };
}

/** People set variables, not keys of our objects. */
function nameVariable(issue: Issue): Issue {
  const [key, ...rest] = issue.path;
  return { ...issue, path: [VARIABLES[key as keyof typeof VARIABLES].name, ...rest] };
}
