/** Errors that end a process with a code that scripts and service managers can tell apart. */
import { EXIT } from "../contract/errors.ts";

/** The process cannot go on, and the message says all that its user needs to know. */
export class ExitError extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ExitError";
    this.exitCode = exitCode;
  }
}

/** The configuration is wrong (78): nobody restarts a process that will fail the same way. */
export class ConfigError extends ExitError {
  constructor(message: string, options?: ErrorOptions) {
    super(EXIT.config, message, options);
    this.name = "ConfigError";
  }
}

/** Something it needs is not there or taken (69): worth trying again. */
export class UnavailableError extends ExitError {
  constructor(message: string, options?: ErrorOptions) {
    super(EXIT.unavailable, message, options);
    this.name = "UnavailableError";
  }
}

/** What to print and which code to end with. A stack trace is for faults of ours only. */
export function describeExit(error: unknown): { readonly message: string; readonly exitCode: number } {
  if (error instanceof ExitError) return { message: error.message, exitCode: error.exitCode };
  if (error instanceof AggregateError && error.errors.length > 0) {
    const described = error.errors.map(describeExit);
    const message = [error.message, ...described.map((each) => each.message)].join("\n");
    return { message, exitCode: described[0]?.exitCode ?? EXIT.failed };
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { message, exitCode: EXIT.failed };
}
