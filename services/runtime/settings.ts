/**
 * Every setting of the environment, in groups that processes put together as they need them.
 * Names, defaults and bounds live here; {@link readConfig} reads, checks and reports.
 */
import { isIPv4 } from "node:net";
import { isAbsolute, resolve } from "node:path";
import { z } from "zod";
import { ALGORITHMS } from "../contract/config/actor-authentication.ts";

/** Which variable a setting comes from. A secret may also be in the file that `<NAME>_FILE` names. */
export const VARIABLES = Object.freeze({
  host: { name: "MUSTER_HOST" },
  port: { name: "MUSTER_PORT" },
  auth: { name: "MUSTER_AUTH" },
  jwtIssuer: { name: "MUSTER_JWT_ISSUER" },
  jwtAudience: { name: "MUSTER_JWT_AUDIENCE" },
  jwtAlgorithms: { name: "MUSTER_JWT_ALGORITHMS" },
  oidcDiscovery: { name: "MUSTER_OIDC_DISCOVERY" },
  jwksUrl: { name: "MUSTER_JWKS_URL" },
  jwksPath: { name: "MUSTER_JWKS_PATH" },
  rateLimit: { name: "MUSTER_RATE_LIMIT" },
  rateLimitAddress: { name: "MUSTER_RATE_LIMIT_ADDRESS" },
  trustedProxies: { name: "MUSTER_TRUSTED_PROXIES" },
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
  webhooksAllowPrivate: { name: "MUSTER_WEBHOOKS_ALLOW_PRIVATE" },
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
function listOf<T extends string>(element: z.ZodType<T, string>) {
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

const secretKey = z
  .string()
  .min(32, "must have 32 characters or more")
  .optional()
  .describe(
    "Signs session ids and seals the secrets of webhooks; the same for all processes. Alone, it is made and kept in the data directory.",
  );

/** Where it can be reached, and by whom. */
export const listening = {
  host: z
    .string()
    .default("127.0.0.1")
    .describe("Address to listen on. Only loopback, while MUSTER_AUTH is off."),
  port: portNumber.default(3001).describe("Port to listen on; 0 takes any free one."),
  auth: z
    .enum(["off", "token", "jwt"])
    .default("off")
    .describe("How callers prove who they are: not at all, with tokens of Muster, or with those and JWTs."),
  publicUrl: httpUrl
    .optional()
    .describe("Address under which clients reach it, when a proxy stands before it."),
  allowedHosts: listOf(z.string())
    .default([])
    .describe("Values of the Host header that are accepted besides its own address (comma-separated)."),
  secretKey,
};

const callsPerMinute = z.coerce
  .number("must be a number of calls per minute, 0 for as many as come")
  .int("must be a whole number")
  .min(0, "must be 0 or more");

/** Who issues the access tokens that open the doors, and how much one caller may ask for. */
export const admitting = {
  jwtIssuer: z.string().min(1).optional().describe("Issuer of access tokens; discovery says it by itself."),
  jwtAudience: listOf(z.string())
    .optional()
    .describe("Names of this server in access tokens; without it, its address with and without /mcp."),
  jwtAlgorithms: listOf(z.enum(ALGORITHMS, { error: `must be among ${ALGORITHMS.join(", ")}` }))
    .default(["RS256", "PS256", "ES256", "EdDSA"])
    .describe("Algorithms that access tokens may be signed with."),
  oidcDiscovery: httpUrl.optional().describe("OpenID document of the issuer, which says where its keys are."),
  jwksUrl: httpUrl.optional().describe("Address of the issuer's keys."),
  jwksPath: path.optional().describe("File of the issuer's keys."),
  rateLimit: callsPerMinute
    .optional()
    .describe("Calls per minute of one credential, over all replicas; 60000 unless MUSTER_AUTH is off."),
  rateLimitAddress: callsPerMinute
    .optional()
    .describe("Calls per minute from one address, over all replicas; 120000 unless MUSTER_AUTH is off."),
  trustedProxies: z.coerce
    .number("must be a number of proxies")
    .int("must be a whole number")
    .min(0, "must be 0 or more")
    .max(16, "must be 16 or less")
    .default(0)
    .describe("Proxies of yours before this server that write X-Forwarded-For."),
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

/** What a process that nobody calls has to know all the same. */
export const sealing = { secretKey };

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
  webhooksAllowPrivate: z
    .enum(["true", "false"], { error: "must be true or false" })
    .transform((text) => text === "true")
    .default(false)
    .describe("true lets webhooks point to private and local addresses, and to plain http."),
  resourceLeasesEnforced: z
    // Not zod's own reader of booleans: its faults would hide those of settings that depend on each other.
    .enum(["true", "false"], { error: "must be true or false" })
    .transform((text) => text === "true")
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
