/**
 * Every setting of the environment, in groups that processes put together as they need them.
 * Names, defaults and bounds live here; {@link readConfig} reads, checks and reports.
 */
import { isIPv4 } from "node:net";
import { isAbsolute, resolve } from "node:path";
import { z } from "zod";

/** Which variable a setting comes from. A secret may also be in the file that `<NAME>_FILE` names. */
export const VARIABLES = Object.freeze({
  host: { name: "MUSTER_HOST" },
  port: { name: "MUSTER_PORT" },
  auth: { name: "MUSTER_AUTH" },
  publicUrl: { name: "MUSTER_PUBLIC_URL" },
  allowedHosts: { name: "MUSTER_ALLOWED_HOSTS" },
  secretKey: { name: "MUSTER_SECRET_KEY", secret: true },
  dataDir: { name: "MUSTER_DATA_DIR" },
  databaseUrl: { name: "MUSTER_DATABASE_URL", secret: true },
  redisUrl: { name: "MUSTER_REDIS_URL", secret: true },
  configFile: { name: "MUSTER_CONFIG" },
  filesDir: { name: "MUSTER_FILES_DIR" },
  metricsPort: { name: "MUSTER_METRICS_PORT" },
  logLevel: { name: "MUSTER_LOG_LEVEL" },
  degradedModePolicy: { name: "DEGRADED_MODE_POLICY" },
  resourceLeasesEnforced: { name: "RESOURCE_LEASES_ENFORCED" },
  urls: { name: "MUSTER_URL" },
  token: { name: "MUSTER_TOKEN", secret: true },
} satisfies Record<string, Variable>);

interface Variable {
  readonly name: string;
  readonly secret?: true;
}

const METRICS_PORT_DEFAULT = 9464;

const portNumber = z.coerce
  .number("must be a port number from 0 to 65535")
  .int("must be a whole number")
  .min(0, "must be 0 or more")
  .max(65_535, "must be 65535 or less");

function urlOf(protocol: RegExp, example: string) {
  const expectation = `must look like ${example}`;
  return z.url({
    protocol,
    error: (issue) => (issue.input === undefined ? `is required and ${expectation}` : expectation),
  });
}

/** `a, b` as a list; empty parts are what a trailing comma leaves. */
function listOf(element: z.ZodType<string, string>) {
  const split = z.string().transform((text) =>
    text
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== ""),
  );
  return split.pipe(z.array(element));
}

/** Whether only this machine can reach an address. */
export function isLoopback(host: string): boolean {
  if (host === "localhost" || host === "::1" || host === "[::1]") return true;
  return isIPv4(host) && host.startsWith("127.");
}

const path = z.string().transform((value) => (isAbsolute(value) ? value : resolve(value)));

const httpUrl = urlOf(/^https?$/, "http://127.0.0.1:3001");

/** Where it can be reached, and by whom. */
export const listening = {
  host: z
    .string()
    .refine(isLoopback, {
      error: (issue) =>
        `is ${String(issue.input)}, which is not a loopback address: without authentication anybody on ` +
        "the network could act. Use 127.0.0.1",
    })
    .default("127.0.0.1")
    .describe("Address to listen on. Only loopback, while there is no authentication."),
  port: portNumber.default(3001).describe("Port to listen on; 0 takes any free one."),
  auth: z
    .enum(["off", "token", "jwt"])
    .refine((auth) => auth === "off", { error: "is not available in this version: leave it off" })
    .default("off")
    .describe("How callers prove who they are."),
  publicUrl: httpUrl
    .optional()
    .describe("Address under which clients reach it, when a proxy stands before it."),
  allowedHosts: listOf(z.string())
    .default([])
    .describe("Values of the Host header that are accepted besides its own address (comma-separated)."),
  secretKey: z
    .string()
    .min(32, "must have 32 characters or more")
    .optional()
    .describe(
      "Signs session ids; the same on all replicas. Alone, it is made and kept in the data directory.",
    ),
};

/** Where the truth is. */
export const storing = {
  dataDir: path
    .default(resolve(".muster"))
    .describe("Folder of the embedded database and of this server's own files."),
  databaseUrl: urlOf(/^postgres(ql)?$/, "postgres://user:password@host:5432/muster")
    .optional()
    .describe("PostgreSQL 15 or newer. Without it the embedded database in the data directory is used."),
};

/** What replicas share besides the database. */
export const coordinating = {
  redisUrl: urlOf(/^rediss?$/, "redis://host:6379")
    .optional()
    .describe("Redis 7 or newer, or Valkey, with the policy noeviction. Needed by more than one process."),
};

/** How it behaves. */
export const behaving = {
  configFile: path.optional().describe("Configuration file, instead of config.yaml in the data directory."),
  filesDir: path
    .optional()
    .describe("Folder whose files agents may name with bodyFromFile. Without it, none are read."),
  degradedModePolicy: z
    .enum(["accept-cached", "accept-self-reported", "reject"])
    .optional()
    .describe(
      "What to do with an actor whose proof cannot be checked now; wins over the configuration file.",
    ),
  resourceLeasesEnforced: z
    .stringbool({ truthy: ["true"], falsy: ["false"], case: "sensitive", error: "must be true or false" })
    .default(true)
    .describe("false stops taking resource leases; what is held is still released."),
};

/** How it is watched. */
export const observing = {
  logLevel: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
    .default("info")
    .describe("Least severe level that is logged."),
  metricsPort: z
    .union([z.literal("off").transform(() => null), portNumber], { error: "must be a port number, or off" })
    .optional()
    .transform((value) => (value === undefined ? METRICS_PORT_DEFAULT : value))
    .describe("Port of the Prometheus metrics, or off."),
};

/** What a client needs to find a server. */
export const reaching = {
  urls: listOf(httpUrl).default([]).describe("Addresses of the server, tried in turn (comma-separated)."),
  token: z.string().optional().describe("Credential sent with every call."),
};
