#!/usr/bin/env node
/**
 * The `muster` command. What needs a database or a server of its own is loaded when it runs, so
 * that `muster status` does not pay for it.
 */
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { EXIT } from "../contract/errors.ts";
import { VERSION } from "../runtime/version.ts";
import { completionScript, type Shell, SHELLS } from "./completion.ts";
import { runCommand } from "./failure.ts";
import type { InstallOptions } from "./mcp/install.ts";
import { addAgentNoun } from "./nouns/agent.ts";
import { addClaimNoun } from "./nouns/claim.ts";
import { addConfigNoun } from "./nouns/config.ts";
import { addDeadNoun } from "./nouns/dead.ts";
import { addEventsNoun } from "./nouns/events.ts";
import { addItemNoun } from "./nouns/item.ts";
import { addLeaseNoun } from "./nouns/lease.ts";
import { addTokenNoun } from "./nouns/token.ts";
import { addTrashNoun } from "./nouns/trash.ts";
import type { WorkOptions } from "./work.ts";

const ENVIRONMENT = `
Environment (docs/quick-start.md has all of it):
  MUSTER_DATA_DIR      where Muster alone keeps everything   ./.muster
  MUSTER_PORT          where it listens on 127.0.0.1         3001
  MUSTER_DATABASE_URL  PostgreSQL instead of the embedded database
  MUSTER_REDIS_URL     what the processes of a fleet share besides it
  MUSTER_URL           where clients find a running Muster

Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 refused, 69 unavailable, 78 configuration`;

interface Json {
  readonly json?: boolean;
}

const program = new Command("muster")
  .description("Fleet orchestration runtime: agents claim work, keep it alive, and hand it in.")
  .version(VERSION, "-V, --version", "print the version")
  .addHelpText("after", ENVIRONMENT)
  .enablePositionalOptions()
  .exitOverride();

/** A subcommand that knows `--json`, as all of them do. Settings are inherited only by those made from here. */
function command(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).option("--json", "print JSON");
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new InvalidArgumentError("It must be a whole number above 0.");
}

command(program, "start", "run Muster alone: one process, data in one directory")
  .option("--idle-stop <seconds>", "stop after that long without clients", wholeNumber)
  .action(async ({ json = false, idleStop }: Json & { idleStop?: number }) => {
    const { runAlone } = await import("./start/main.ts");
    await runAlone({ json, idleStopSeconds: idleStop });
  });

command(program, "api", "run one API process of a fleet (PostgreSQL and Redis)")
  .option("--migrate", "bring the database up to date first")
  .action(async ({ json = false, migrate = false }: Json & { migrate?: boolean }) => {
    const { runApi } = await import("../api/main.ts");
    await runApi({ json, migrate });
  });

command(program, "scheduler", "run one scheduler of a fleet (PostgreSQL and Redis)")
  .option("--migrate", "bring the database up to date first")
  .action(async ({ json = false, migrate = false }: Json & { migrate?: boolean }) => {
    const { runScheduler } = await import("../scheduler/main.ts");
    await runScheduler({ json, migrate });
  });

command(program, "migrate", "bring the database to the schema of this version").action(
  ({ json = false }: Json) =>
    runCommand(json, async () => {
      const { migrateDatabase } = await import("./migrate/main.ts");
      await migrateDatabase({ json });
    }),
);

command(program, "export", "write a root out as lines of JSON: everything of it, for `muster import`")
  .argument("<root>", "its id")
  .addHelpText("after", "\nExample: muster export 3a80b8c8-06dd-45a1-95c0-c51105cf8641 > project.jsonl")
  .action((root: string, { json = false }: Json) =>
    runCommand(json, async () => (await import("./export/main.ts")).exportRoot(root, { json })),
  );

command(program, "import", "bring a root in, or the database of another tool; what is there stays as it is")
  .argument("<file>", "what `muster export` wrote (- reads standard input), or the other tool's database")
  .addOption(new Option("--from <tool>", "the tool that made it").choices(["task-orchestrator"]))
  .action((file: string, { json = false, from }: Json & { from?: string }) =>
    runCommand(json, async () => {
      if (from === undefined) return (await import("./export/main.ts")).importRoot(file, { json });
      return (await import("./import/main.ts")).importFile(file, { json });
    }),
  );

const mcp = program
  .command("mcp")
  .description("serve MCP over stdio for one client; starts Muster in the background if none runs")
  .action(() =>
    runCommand(false, async () => {
      const { serveMcp } = await import("./mcp/main.ts");
      await serveMcp();
    }),
  );
command(mcp, "install", "put Muster into an MCP client's file, or show where it is")
  .argument("[client]", "claude-code, claude-desktop, cursor, windsurf, vscode or codex")
  .option("--all", "into every client of this machine, but files that belong to a project")
  .option("--dry-run", "change nothing, say what would be")
  .action((name: string | undefined, options: InstallOptions) =>
    runCommand(options.json === true, async () => (await import("./mcp/install.ts")).install(name, options)),
  );
command(mcp, "uninstall", "take Muster out of an MCP client's file")
  .argument("[client]")
  .option("--all", "out of every client's")
  .option("--dry-run", "change nothing, say what would be")
  .action((name: string | undefined, options: InstallOptions) =>
    runCommand(options.json === true, async () =>
      (await import("./mcp/install.ts")).uninstall(name, options),
    ),
  );
command(mcp, "status", "say which MCP clients have Muster").action((options: InstallOptions) =>
  runCommand(options.json === true, async () => (await import("./mcp/install.ts")).status(options)),
);

const append = (value: string, before: readonly string[]): readonly string[] => [...before, value];

command(program, "work", "run a program for each item; the item is JSON on its stdin")
  .usage("[options] -- <command> [args...]")
  .argument("<command>", "the program")
  .argument("[args...]", "its arguments")
  .option("--selector <filter>", "which items: JSON, or name=value (repeatable)", append, [])
  .option("--slots <n>", "how many at once", "1")
  .option("--agent <id>", "the name to work under; by default this machine's")
  .option("--ttl <seconds>", "how long a claim outlives this process", "60")
  .option("--wait <seconds>", "how long an empty claim waits on the server", "25")
  .option("--capabilities <list>", "what this worker can do (comma-separated)")
  .option("--until-empty", "end when everything that matches is done", false)
  .addHelpText(
    "after",
    `
The program's exit code decides: 0 moves the item on, 75 hands it back for later, anything
else fails the attempt with the end of stderr as evidence. It finds MUSTER_ITEM_ID,
MUSTER_FENCE, MUSTER_WORKER_ID, MUSTER_ATTEMPT and MUSTER_URL in its environment.

Example: muster work --selector tags=build --slots 4 -- ./build.sh`,
  )
  .passThroughOptions()
  .action((name: string, args: string[], options: WorkOptions) =>
    runCommand(options.json, async () => {
      const { work } = await import("./work.ts");
      await work(name, args, options);
    }),
  );

command(program, "status", "say whether Muster is there and well").action(({ json = false }: Json) =>
  runCommand(json, async () => {
    const { showStatus } = await import("./status.ts");
    return showStatus({ json });
  }),
);

command(program, "doctor", "look at everything Muster needs, and say how to mend what is wrong")
  .option("--repair", "also mend what can be mended here: copies in item_state")
  .action(({ json = false, repair = false }: Json & { repair?: boolean }) =>
    runCommand(json, async () => {
      const { examine } = await import("./doctor/main.ts");
      return examine({ json, repair });
    }),
  );

addItemNoun(program);
addClaimNoun(program);
addLeaseNoun(program);
addAgentNoun(program);
addDeadNoun(program);
addTrashNoun(program);
addTokenNoun(program);
addConfigNoun(program);
addEventsNoun(program);

program
  .command("completion")
  .description("print what makes a shell complete these commands")
  .addArgument(new Argument("<shell>", "which").choices(SHELLS))
  .addHelpText("after", "\nExample: echo 'source <(muster completion bash)' >> ~/.bashrc")
  .action((shell: Shell) => void process.stdout.write(completionScript(program, shell)));

// Whoever read our output has seen enough, as `head` has: that is no fault.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(EXIT.ok);
});

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  // It has said what was wrong already; asking for help or the version is not a fault.
  process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
}
