/**
 * The log of a process: readable on a terminal, one JSON object a line everywhere else. A message
 * is a constant phrase; what varies is in fields. Secrets never reach it.
 */
import { hostname } from "node:os";
import { type DestinationStream, type Logger, pino, stdSerializers } from "pino";
import { formatLine } from "./log-line.ts";
import { withoutCredentials } from "./redact.ts";
import { VERSION } from "./version.ts";

export type Log = Logger;

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";

export interface LogOptions {
  /** Which process speaks: `api`, `scheduler`, `worker`. */
  readonly service: string;
  readonly level?: LogLevel;
  /** Where to. Standard output carries data in `muster mcp` and the CLI, so those log to `stderr`. */
  readonly to?: "stdout" | "stderr";
  /** Overrides what the terminal suggests; for tests. */
  readonly readable?: boolean;
  readonly destination?: DestinationStream;
}

/** Fields that are secrets by name, at the top of an entry and one level down. */
const SECRET_FIELDS = [
  "authorization",
  "cookie",
  "databaseUrl",
  "password",
  "payload",
  "proof",
  "redisUrl",
  "secret",
  "secretKey",
  "token",
];

export function createLog(options: LogOptions): Log {
  const stream = options.to === "stderr" ? process.stderr : process.stdout;
  const destination =
    options.destination ?? (options.to === "stderr" ? pino.destination(2) : pino.destination(1));
  const readable = options.readable ?? (options.destination === undefined && stream.isTTY);
  const colour = readable && stream.isTTY && !process.env["NO_COLOR"];
  return pino(
    {
      level: options.level ?? "info",
      base: { service: options.service, version: VERSION, instance: `${hostname()}:${process.pid}` },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: serializeError, error: serializeError },
      redact: {
        paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
        censor: "[redacted]",
      },
    },
    readable ? { write: (line: string) => destination.write(formatLine(line, colour)) } : destination,
  );
}

/** Drivers put the address they could not reach, password included, into their messages. */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const serialized = stdSerializers.err(error);
  return {
    ...serialized,
    message: withoutCredentials(serialized.message),
    stack: withoutCredentials(serialized.stack),
  };
}
