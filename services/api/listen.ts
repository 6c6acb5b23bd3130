/** Listening, or saying in one line why not. */
import { ConfigError, UnavailableError } from "../runtime/exit.ts";
import type { Api } from "./create-api.ts";

/**
 * Starts to serve.
 * @throws UnavailableError when the port is taken.
 */
export async function listenOrExplain(
  api: Api,
  port: number,
): Promise<{ readonly url: string; readonly port: number }> {
  try {
    return await api.listen();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "EADDRINUSE") {
      throw new UnavailableError(
        `Port ${port} is taken: another program listens on it. Stop that one, or set MUSTER_PORT.`,
        { cause: error },
      );
    }
    if (code === "EACCES" || code === "EADDRNOTAVAIL") {
      throw new ConfigError(
        `Listening on port ${port} is not possible here (${code}). Set MUSTER_PORT and MUSTER_HOST to what this user may use.`,
        { cause: error },
      );
    }
    throw error;
  }
}
