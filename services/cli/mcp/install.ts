/**
 * `muster mcp install | uninstall | status`: puts Muster into the files of MCP clients. A file is
 * merged, never replaced; one that cannot be understood is left as it is; before a file is changed
 * its old text is kept beside it.
 */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { EXIT } from "../../contract/errors.ts";
import { clientConfig, readConfig } from "../../runtime/config.ts";
import { ExitError } from "../../runtime/exit.ts";
import { print, table } from "../output.ts";
import { findClient, MCP_CLIENTS, type McpClient, type ServerEntry, UnfitFile } from "./clients.ts";
import { withJsonEntry, withoutJsonEntry } from "./json-file.ts";
import { withoutTomlEntry, withTomlEntry } from "./toml-file.ts";

export interface InstallOptions {
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

interface Outcome {
  readonly client: string;
  readonly file: string;
  readonly state: "installed" | "changed" | "removed" | "other" | "absent" | "not there" | "refused";
  /** The file was written, or would be. */
  readonly modified: boolean;
  readonly reason?: string;
}

/** Without a client it shows how things stand. Answers 4 if a file was refused. */
export function install(name: string | undefined, options: InstallOptions): number {
  const clients = chosen(name, options);
  if (clients === null) return status(options);
  const entry = entryOfHere();
  return report(
    clients.map((client) =>
      change(client, options, name !== undefined, (text) => added(text, client, entry)),
    ),
    options,
  );
}

export function uninstall(name: string | undefined, options: InstallOptions): number {
  const clients = chosen(name, options);
  if (clients === null) throw new ExitError(EXIT.usage, `Say which client, or --all: ${NAMES}.`);
  return report(
    clients.map((client) => change(client, options, false, (text) => removed(text, client))),
    options,
  );
}

export function status(options: Pick<InstallOptions, "json">): number {
  const entry = entryOfHere();
  return report(
    MCP_CLIENTS.map((client) => look(client, entry)),
    options,
  );
}

const NAMES = MCP_CLIENTS.map(({ name }) => name).join(", ");

/** Null: none was named. A file that is shared with others is meant only by its name. */
function chosen(name: string | undefined, { all }: InstallOptions): readonly McpClient[] | null {
  if (name !== undefined && all === true)
    throw new ExitError(EXIT.usage, "Name a client or pass --all, not both.");
  if (all === true) return MCP_CLIENTS.filter(({ project }) => project !== true);
  if (name === undefined) return null;
  const client = findClient(name);
  if (client === undefined) throw new ExitError(EXIT.usage, `${name} is not known; these are: ${NAMES}.`);
  return [client];
}

/** Absolute paths: a client has another PATH and another folder. No token: files are shared and copied. */
function entryOfHere(): ServerEntry {
  const { urls, dataDir } = readConfig(clientConfig);
  const program = fileURLToPath(new URL("../main.ts", import.meta.url));
  const env = urls.length > 0 ? { MUSTER_URL: urls.join(",") } : { MUSTER_DATA_DIR: dataDir };
  return { command: process.execPath, args: [program, "mcp"], env };
}

const fileOf = (client: McpClient): string => client.file(homedir(), process.cwd(), process.platform);

function added(text: string | null, client: McpClient, entry: ServerEntry): string {
  return client.format === "json" ? withJsonEntry(text, client, entry) : withTomlEntry(text, client, entry);
}

function removed(text: string | null, client: McpClient): string | null {
  if (text === null) return null;
  return client.format === "json" ? withoutJsonEntry(text, client) : withoutTomlEntry(text, client);
}

function look(client: McpClient, entry: ServerEntry): Outcome {
  const file = fileOf(client);
  const about = { client: client.name, file, modified: false };
  try {
    const text = readText(file);
    if (text === null) return { ...about, state: "not there" };
    if (removed(text, client) === text) return { ...about, state: "absent" };
    return { ...about, state: isSame(added(text, client, entry), text, client) ? "installed" : "other" };
  } catch (error) {
    return refused(about, error);
  }
}

function change(
  client: McpClient,
  { dryRun = false }: InstallOptions,
  isNamed: boolean,
  edit: (text: string | null) => string | null,
): Outcome {
  const file = fileOf(client);
  const about = { client: client.name, file, modified: false };
  // With --all, only where the client is installed: nobody wants the folders of those that are not.
  if (!isNamed && !existsSync(dirname(file))) return { ...about, state: "not there" };
  try {
    const before = readText(file);
    const after = edit(before);
    const gone = after === null || removed(after, client) === after;
    if (after === null || (before !== null && isSame(after, before, client)))
      return { ...about, state: gone ? "absent" : "installed" };
    if (!dryRun) writeText(file, after, before !== null);
    return { ...about, modified: true, state: gone ? "removed" : "changed" };
  } catch (error) {
    return refused(about, error);
  }
}

/** A file that says the same in another layout is left as it is. */
function isSame(a: string, b: string, { format }: McpClient): boolean {
  if (a === b) return true;
  return (
    format === "json" &&
    JSON.stringify(JSON.parse(a)) === JSON.stringify(JSON.parse(b.replace(/^\uFEFF/, "") || "null"))
  );
}

function refused(about: Omit<Outcome, "state">, error: unknown): Outcome {
  if (!(error instanceof UnfitFile)) throw error;
  return { ...about, state: "refused", reason: `${error.message}; it was left as it is` };
}

function readText(file: string): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    const cause = error instanceof Error ? error.message : String(error);
    throw new UnfitFile(`it cannot be read (${cause})`, { cause: error });
  }
}

const PRIVATE = 0o600;

/** Whole or not at all, through a link to what it names, and with the old text kept beside it. */
function writeText(file: string, text: string, existed: boolean): void {
  mkdirSync(dirname(file), { recursive: true });
  const target = existed ? realpathSync(file) : file;
  if (existed) copyFileSync(target, `${target}.before-muster`);
  const draft = `${target}.${process.pid}.draft`;
  writeFileSync(draft, text, { mode: PRIVATE });
  if (existed) chmodSync(draft, statSync(target).mode);
  renameSync(draft, target);
}

function report(outcomes: readonly Outcome[], { json }: Pick<InstallOptions, "json">): number {
  print(json === true, { clients: outcomes }, () =>
    table(
      ["CLIENT", "STATE", "FILE"],
      outcomes.map(({ client, state, file, reason }) => [
        client,
        state,
        reason === undefined ? file : `${file}: ${reason}`,
      ]),
    ),
  );
  return outcomes.some(({ state }) => state === "refused") ? EXIT.refused : EXIT.ok;
}
