/**
 * `npm run demo`: a tree of work, six workers, one accident.
 *
 *   npm run demo              Muster alone, with nothing but what `npm ci` installed
 *   npm run demo -- --fleet   two APIs, two schedulers, a real Postgres and a real Redis
 *
 * It ends with an account, and with 0 only if every item was done exactly once; with 1 if not,
 * 2 for options it does not know, 69 if the machine lacks what a fleet needs.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { EXIT } from "../services/contract/errors.ts";
import { startedByNpm, whenOrphaned } from "../services/runtime/orphan-watch.ts";
import { createBoard } from "./demo/board.ts";
import { runDemo } from "./demo/run.ts";
import { ServersMissing, startAlone, startFleet } from "./demo/servers.ts";
import { accountText } from "./demo/tally.ts";

const USAGE = "Usage: npm run demo [-- --fleet]";

interface Options {
  readonly fleet: boolean;
  readonly help: boolean;
}

/** Ends by a signal only after everything that was started has ended. */
class Interruption {
  exitCode: number | null = null;
  readonly #controller = new AbortController();

  constructor() {
    process.on("SIGINT", () => this.#interrupt(130));
    process.on("SIGTERM", () => this.#interrupt(143));
    process.on("SIGHUP", () => this.#interrupt(129));
    if (startedByNpm()) whenOrphaned(() => this.#interrupt(143));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  #interrupt(exitCode: number): void {
    this.exitCode ??= exitCode;
    this.#controller.abort(new Error("Interrupted."));
  }
}

function readOptions(args: readonly string[]): Options | null {
  try {
    const options = { fleet: { type: "boolean" }, help: { type: "boolean", short: "h" } } as const;
    const { fleet = false, help = false } = parseArgs({ args: [...args], options }).values;
    return { fleet, help };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    return null;
  }
}

async function demonstrate(fleet: boolean, signal: AbortSignal): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "muster-demo-"));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  console.log(fleet ? "Starting a fleet of Muster …" : "Starting Muster alone …");
  const given = {
    databaseUrl: process.env["MUSTER_DATABASE_URL"] || undefined,
    redisUrl: process.env["MUSTER_REDIS_URL"] || undefined,
  };
  const servers = stack.use(
    await (fleet ? startFleet({ folder, signal }, given) : startAlone({ folder, signal })),
  );
  const board = createBoard(process.stdout, `Muster ${servers.description}`, process.env);
  const { account, seconds, output } = await runDemo({ servers, folder, signal, board }).finally(() =>
    board.close(),
  );
  console.log(accountText(account, seconds));
  if (account.problems.length === 0) return EXIT.ok;
  console.error(output);
  return EXIT.failed;
}

async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  if (options === null) return EXIT.usage;
  if (options.help) {
    console.log(USAGE);
    return EXIT.ok;
  }
  const interruption = new Interruption();
  try {
    return await demonstrate(options.fleet, interruption.signal);
  } catch (error) {
    if (interruption.exitCode !== null) {
      console.error("Interrupted.");
      return interruption.exitCode;
    }
    if (error instanceof ServersMissing) {
      console.error(error.message);
      return EXIT.unavailable;
    }
    console.error("The demo failed.", error);
    return EXIT.failed;
  }
}

process.exitCode = await main(process.argv.slice(2));
