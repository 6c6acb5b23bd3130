/**
 * The server that `muster mcp` starts when none runs. It belongs to nobody: it outlives the
 * client that caused it, serves those that come later, and ends some minutes after the last.
 */
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { EXIT } from "../../contract/errors.ts";
import { environmentWith } from "../../runtime/environment.ts";
import { UnavailableError } from "../../runtime/exit.ts";
import { readServerAddress } from "../../runtime/data-directory.ts";
import { answers } from "../find-server.ts";

const IDLE_STOP_SECONDS = 600;
const START_MS_MAX = 30_000;
const POLL_MS = 50;
const PROGRAM = fileURLToPath(new URL("../main.ts", import.meta.url));

/**
 * Starts a server on the data directory; answers its address once it serves. When two clients
 * do this at once, one server gets the directory and both use it.
 * @throws UnavailableError with the end of its log.
 */
export async function startInBackground(dataDir: string): Promise<string> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const logPath = join(dataDir, "server.log");
  const log = openSync(logPath, "a", 0o600);
  const child = spawn(process.execPath, [PROGRAM, "start", "--idle-stop", String(IDLE_STOP_SECONDS)], {
    // Of its own: closing the client's terminal, or Ctrl-C in it, is not about this server.
    detached: true,
    stdio: ["ignore", log, log],
    cwd: dataDir,
    // Any port, unless one was asked for: it is found through the directory.
    env: environmentWith({ MUSTER_DATA_DIR: dataDir }, { MUSTER_PORT: "0" }),
  });
  closeSync(log);
  let ended: number | null = null;
  child.once("exit", (code) => (ended = code ?? EXIT.failed));
  child.once("error", () => (ended = EXIT.failed));
  child.unref();

  const deadline = performance.now() + START_MS_MAX;
  while (performance.now() < deadline) {
    const server = readServerAddress(dataDir);
    if (server !== null && (await answers(server.url))) return server.url;
    // 69: another one has the directory and is about to announce itself. Anything else is final.
    if (ended !== null && ended !== EXIT.unavailable) break;
    await wait(POLL_MS);
  }
  throw new UnavailableError(
    `Muster could not be started in ${dataDir}.\n${endOf(logPath)}\nThe whole log is in ${logPath}.`,
  );
}

function endOf(path: string): string {
  try {
    return readFileSync(path, "utf8").trimEnd().split("\n").slice(-5).join("\n");
  } catch {
    return "";
  }
}
