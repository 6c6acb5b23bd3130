/**
 * `npm test`: brings up a real Postgres and Redis, runs every test against them, takes them down
 * and ends with one line, `tests: N passed, N failed`. Arguments go to Vitest:
 * `npm test -- test/unit/runtime`, `npm test -- --project e2e -t "claims"`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startedByNpm, whenOrphaned } from "../services/runtime/orphan-watch.ts";
import { bringUpServers, type Servers, ServersMissing } from "./test/servers.ts";
import { type Tally, verdictOf } from "./test/tally.ts";

const EX_UNAVAILABLE = 69;
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** Ends with the signal's exit code, but not before the servers are down and their folders gone. */
class Interruption {
  exitCode: number | null = null;
  #child: ChildProcess | null = null;

  constructor() {
    process.on("SIGINT", () => this.#interrupt("SIGINT", 130));
    process.on("SIGTERM", () => this.#interrupt("SIGTERM", 143));
    process.on("SIGHUP", () => this.#interrupt("SIGTERM", 129));
    if (startedByNpm()) whenOrphaned(() => this.#interrupt("SIGTERM", 143));
  }

  watch(child: ChildProcess): void {
    this.#child = child;
  }

  #interrupt(signal: NodeJS.Signals, exitCode: number): void {
    // Asked twice: the tests do not end by themselves.
    this.#child?.kill(this.exitCode === null ? signal : "SIGKILL");
    this.exitCode ??= exitCode;
  }
}

async function runVitest(args: readonly string[], env: NodeJS.ProcessEnv, interruption: Interruption) {
  const reporters = ["--reporter=default", `--reporter=${join(ROOT, "scripts/test/tally-reporter.ts")}`];
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const child = spawn(process.execPath, [vitest, "run", ...reporters, ...args], {
    cwd: ROOT,
    stdio: "inherit",
    env,
  });
  interruption.watch(child);
  return new Promise<number>((resolve) => {
    child.once("error", (error) => {
      console.error(`Vitest could not be started: ${error.message}`);
      resolve(1);
    });
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

function readTally(path: string): Tally | null {
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Tally) : null;
}

async function bringUp(run: string): Promise<Servers | null> {
  try {
    return await bringUpServers({
      run,
      databaseUrl: process.env["MUSTER_TEST_DATABASE_URL"] || undefined,
      redisUrl: process.env["MUSTER_TEST_REDIS_URL"] || undefined,
      install: process.env["MUSTER_TEST_INSTALL"] === "1",
    });
  } catch (error) {
    if (error instanceof ServersMissing) console.error(error.message);
    else console.error("The servers for the tests did not come up.", error);
    return null;
  }
}

async function main(args: readonly string[]): Promise<number> {
  const interruption = new Interruption();
  const run = randomBytes(4).toString("hex");
  const servers = await bringUp(run);
  if (servers === null) return EX_UNAVAILABLE;
  const folder = mkdtempSync(join(tmpdir(), "muster-test-"));
  const tallyPath = join(folder, "tally.json");
  const env = {
    ...process.env,
    MUSTER_TEST_DATABASE_URL: servers.databaseUrl,
    MUSTER_TEST_REDIS_URL: servers.redisUrl,
    MUSTER_TEST_RUN: run,
    MUSTER_TEST_FOLDER: folder,
    MUSTER_TEST_TALLY: tallyPath,
  };
  try {
    const code = interruption.exitCode ?? (await runVitest(args, env, interruption));
    const verdict = verdictOf(readTally(tallyPath), code);
    await servers.close();
    if (interruption.exitCode !== null) {
      console.error("Interrupted.");
      return interruption.exitCode;
    }
    console.log(verdict.line);
    return verdict.exitCode;
  } finally {
    await servers.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

process.exitCode = await main(process.argv.slice(2));
