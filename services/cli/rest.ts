/** Calls of the REST door, at the first address that answers. */
import { randomUUID } from "node:crypto";
import { EXIT, isErrorCode, ERRORS } from "../contract/errors.ts";
import { clientConfig, readConfig } from "../runtime/config.ts";
import { ExitError, UnavailableError } from "../runtime/exit.ts";
import { findServer } from "./find-server.ts";

export interface RestAnswer {
  readonly url: string;
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export interface Target {
  readonly urls: readonly string[];
  readonly token?: string | undefined;
}

export interface RestCall {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  /** With its query. */
  readonly path: string;
  /** Sent as JSON, unless it is text. */
  readonly body?: unknown;
  readonly contentType?: string;
}

/** Bulk calls do up to a hundred things one after the other. */
const ANSWER_MS_MAX = 60_000;

/** Where the server is, and as whom to speak to it. */
export async function findTarget(): Promise<Target> {
  const config = readConfig(clientConfig);
  return { urls: await findServer(config), token: config.token };
}

/** Opens a request at the first address that answers; whatever it answers. */
export async function request(
  { urls, token }: Target,
  { method = "GET", path, body, contentType }: RestCall,
  options: { readonly signal?: AbortSignal; readonly accept?: string } = {},
): Promise<{ readonly url: string; readonly response: Response }> {
  // One key for all addresses: whichever did it, it is done once.
  const key = randomUUID();
  const problems: string[] = [];
  for (const url of urls) {
    try {
      const response = await fetch(new URL(path, url), {
        method,
        headers: {
          accept: options.accept ?? "application/json",
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(method === "GET" ? {} : { "idempotency-key": key }),
          ...(body === undefined ? {} : { "content-type": contentType ?? "application/json" }),
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
        signal: options.signal ?? AbortSignal.timeout(ANSWER_MS_MAX),
      });
      return { url, response };
    } catch (error) {
      if (options.signal?.aborted === true) throw error;
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      problems.push(`${url} (${cause instanceof Error ? cause.message : String(cause)})`);
    }
  }
  throw new UnavailableError(
    `No Muster answers at ${problems.join(", ")}. Start it with \`muster start\`, or set MUSTER_URL to where it runs.`,
  );
}

/** Whatever the server answers, errors too. */
export async function getAny(target: Target, path: string): Promise<RestAnswer> {
  const { url, response } = await request(target, { path });
  return { url, status: response.status, body: await bodyOf(response) };
}

/**
 * A call that has to succeed.
 * @throws ExitError with the server's own words.
 */
export async function callOk(target: Target, call: RestCall): Promise<Record<string, unknown>> {
  const { response } = await request(target, call);
  const body = await bodyOf(response);
  if (response.status < 400) return body;
  throw refusalOf(response.status, body);
}

/** The server's refusal, with the exit code that the error table has for it. */
export function refusalOf(status: number, body: Readonly<Record<string, unknown>>): ExitError {
  const { code, error, message, hint } = body;
  const known = [code, error].find((one) => isErrorCode(one));
  const exitCode = isErrorCode(known) ? ERRORS[known].exitCode : exitOf(status);
  const lines = [message, hint].filter((line) => typeof line === "string");
  return new ExitError(exitCode, lines.join("\n") || `The server answered HTTP ${status}.`);
}

function exitOf(status: number): number {
  if (status === 404) return EXIT.notFound;
  if (status === 503 || status === 429) return EXIT.unavailable;
  return status < 500 ? EXIT.refused : EXIT.failed;
}

async function bodyOf(response: Response): Promise<Record<string, unknown>> {
  const text = await response.text();
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return text === "" ? {} : { text };
  }
}
