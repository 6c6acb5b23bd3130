/** Reads of the REST door, from the first address that answers. */
import { EXIT, isErrorCode, ERRORS } from "../contract/errors.ts";
import { ExitError, UnavailableError } from "../runtime/exit.ts";

export interface RestAnswer {
  readonly url: string;
  readonly status: number;
  readonly body: Record<string, unknown>;
}

interface Target {
  readonly urls: readonly string[];
  readonly token?: string | undefined;
}

const ANSWER_MS_MAX = 10_000;

/** Whatever the server answers, errors too. */
export async function getAny({ urls, token }: Target, path: string): Promise<RestAnswer> {
  const problems: string[] = [];
  for (const url of urls) {
    try {
      const response = await fetch(new URL(path, url), {
        headers: {
          accept: "application/json",
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      });
      return { url, status: response.status, body: (await response.json()) as Record<string, unknown> };
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      problems.push(`${url} (${cause instanceof Error ? cause.message : String(cause)})`);
    }
  }
  throw new UnavailableError(
    `No Muster answers at ${problems.join(", ")}. Start it with \`muster start\`, or set MUSTER_URL to where it runs.`,
  );
}

/**
 * A read that has to succeed.
 * @throws ExitError with the server's own words.
 */
export async function getOk(target: Target, path: string): Promise<Record<string, unknown>> {
  const { status, body } = await getAny(target, path);
  if (status < 400) return body;
  const { code, message, hint } = body;
  const exitCode = isErrorCode(code) ? ERRORS[code].exitCode : EXIT.failed;
  const lines = [message, hint].filter((line) => typeof line === "string");
  throw new ExitError(exitCode, lines.join("\n") || `The server answered HTTP ${status}.`);
}
