/** Errors of commands: what happened, why, what to do; and the exit code that scripts go by. */
import { ERRORS, EXIT, isErrorCode, isMusterError } from "../contract/errors.ts";
import { ExitError } from "../runtime/exit.ts";
import { withoutCredentials } from "../runtime/redact.ts";
import { ConnectionError, MusterClientError } from "../worker-sdk/errors.ts";

export interface Failure {
  readonly exitCode: number;
  readonly message: string;
  readonly code?: string;
}

export function failureOf(error: unknown): Failure {
  if (error instanceof ExitError) return { exitCode: error.exitCode, message: error.message };
  if (MusterClientError.is(error) || isMusterError(error)) {
    const { code, message, hint } = error;
    const exitCode = isErrorCode(code) ? ERRORS[code].exitCode : EXIT.failed;
    return { exitCode, code, message: hint === undefined ? message : `${message}\n${hint}` };
  }
  if (ConnectionError.is(error)) {
    return {
      exitCode: EXIT.unavailable,
      message: `${error.message}\nStart Muster with \`muster start\`, or set MUSTER_URL to where it runs.`,
    };
  }
  const text = error instanceof Error ? error.message : String(error);
  return { exitCode: EXIT.failed, message: withoutCredentials(text) };
}

/** Runs a command to its end; what it throws becomes its exit code and a message on standard error. */
export async function runCommand(json: boolean, command: () => Promise<number | void>): Promise<void> {
  try {
    process.exitCode = (await command()) ?? EXIT.ok;
  } catch (error) {
    const failure = failureOf(error);
    process.stderr.write(`${json ? JSON.stringify({ error: failure }) : failure.message}\n`);
    process.exitCode = failure.exitCode;
  }
}
