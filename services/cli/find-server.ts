/**
 * Where Muster runs: the addresses that were given, else the server of the data directory,
 * else that of a data directory in a folder above, as git finds its repository.
 */
import { dirname, join } from "node:path";
import type { ClientConfig } from "../runtime/config.ts";
import { readServerAddress } from "../runtime/data-directory.ts";
import { UnavailableError } from "../runtime/exit.ts";

const ANSWER_MS_MAX = 1_500;

/** Whether a Muster answers there. */
export async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(new URL("/livez", url), { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    const body = (await response.json()) as { live?: unknown };
    return response.ok && body.live === true;
  } catch {
    return false;
  }
}

/** Data directories in which a server may have announced itself, nearest first. */
export function dataDirectories(configured: string, workingDirectory: string): string[] {
  const found = [configured];
  for (let folder = workingDirectory; ; folder = dirname(folder)) {
    found.push(join(folder, ".muster"));
    if (dirname(folder) === folder) return [...new Set(found)];
  }
}

/** The address of a running server of this machine, or null. */
export async function findLocalServer(dataDir: string): Promise<string | null> {
  for (const path of dataDirectories(dataDir, process.cwd())) {
    const server = readServerAddress(path);
    if (server !== null && (await answers(server.url))) return server.url;
  }
  return null;
}

/**
 * The addresses to talk to.
 * @throws UnavailableError when none was given and none is found.
 */
export async function findServer({ urls, dataDir }: ClientConfig): Promise<readonly string[]> {
  if (urls.length > 0) return urls;
  const local = await findLocalServer(dataDir);
  if (local !== null) return [local];
  throw new UnavailableError(
    `No Muster is running here: ${dataDir} names no server that answers, nor does a .muster folder above. ` +
      "Start it with `muster start`, or set MUSTER_URL to where it runs.",
  );
}
