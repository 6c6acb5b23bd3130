/**
 * Where a worker writes what it does. The shape is pino's, so that a pino logger can be
 * passed as it is.
 */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Warnings and errors as one line each on stderr; what goes well is silent. */
export function createStderrLog(): Log {
  const write = (level: string) => (fields: object, message: string) => {
    process.stderr.write(`muster ${level}: ${message} ${JSON.stringify(fields)}\n`);
  };
  return { info: () => {}, warn: write("warn"), error: write("error") };
}
