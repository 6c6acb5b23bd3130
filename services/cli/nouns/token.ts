/**
 * `muster token …`: credentials. A running server is asked, as for everything; where none runs,
 * or none lets anybody in yet, the database is worked on itself: the first token of an
 * installation can come from nowhere else.
 */
import type { Command } from "commander";
import { parseInput } from "../../contract/parse.ts";
import { operationByName, type OutputOf, type RequestOf } from "../../contract/registry.ts";
import type { ListedToken, MintedToken } from "../../contract/tokens.ts";
import { clientConfig, readConfig } from "../../runtime/config.ts";
import { findLocalServer } from "../find-server.ts";
import { oneLine, print, say, since, table } from "../output.ts";
import type { RestCall } from "../rest.ts";
import { call, confirm, does, type Options, verb } from "./noun.ts";

/** What a worker needs. */
const USUAL = "read,claim,advance,write-notes";

export function addTokenNoun(program: Command): void {
  const token = program.command("token").description("credentials of agents and programs");
  direct(verb(token, "create", "make a token; it is printed once"))
    .argument("<name>", "what it is for")
    .option("--capabilities <list>", "what it may do (comma-separated)", USUAL)
    .option(
      "--roots <ids>",
      "it sees these items and what is below them (comma-separated); everything without",
    )
    .option("--pinned-root <id>", "it works in this one tree")
    .option("--agent <id>", "the only agent that it speaks for")
    .option("--days <n>", "how long it lasts; 90 without")
    .action(does(create));
  direct(verb(token, "list", "list tokens; secrets are never shown"))
    .option("--ended", "those that expired or were revoked too")
    .action(does(list));
  direct(verb(token, "rotate", "give a token a new secret; the old one ends at once"))
    .argument("<token>", "its id")
    .option("--days <n>", "how long it lasts from now; 90 without")
    .action(does(rotate));
  direct(verb(token, "revoke", "end a token for good"))
    .argument("<token>", "its id")
    .option("--reason <text>", "why; kept with it")
    .option("--yes", "do not ask")
    .action(does(revoke));
}

function direct(command: Command): Command {
  return command.option("--direct", "work on the database itself, although a server runs");
}

async function create(options: Options, name: string): Promise<void> {
  const { capabilities, roots, pinnedRoot, agent } = options;
  const body = {
    name,
    capabilities: listOf(capabilities),
    ...(roots === undefined ? {} : { rootIds: listOf(roots) }),
    ...(pinnedRoot === undefined ? {} : { pinnedRootId: pinnedRoot }),
    ...(agent === undefined ? {} : { agentId: agent }),
    ...lifeOf(options),
  };
  showSecret(options, await run(options, "create_token", body, { method: "POST", path: "/tokens", body }));
}

async function rotate(options: Options, id: string): Promise<void> {
  const body = lifeOf(options);
  const rest: RestCall = { method: "POST", path: `/tokens/${encodeURIComponent(id)}/rotate`, body };
  showSecret(options, await run(options, "rotate_token", { tokenId: id, ...body }, rest));
}

async function revoke(options: Options, id: string): Promise<void> {
  await confirm(`End the token ${id} for good?`, options);
  const { reason } = options;
  const body = reason === undefined ? {} : { reason };
  const rest: RestCall = { method: "POST", path: `/tokens/${encodeURIComponent(id)}/revoke`, body };
  const revoked = await run(options, "revoke_token", { tokenId: id, ...body }, rest);
  print(options["json"] === true, revoked, () =>
    revoked.changed ? `${revoked.prefix} is revoked.` : `${revoked.prefix} was revoked before.`,
  );
}

async function list(options: Options): Promise<void> {
  const ended = options["ended"] === true;
  const path = `/tokens?limit=100${ended ? "&ended=true" : ""}`;
  const found = await run(options, "list_tokens", { limit: 100, ended }, { path });
  print(options["json"] === true, found, () =>
    found.tokens.length === 0
      ? "There are no tokens."
      : table(["TOKEN", "STATE", "NAME", "MAY", "SEES", "AGENT", "USED", "UNTIL"], found.tokens.map(rowOf)),
  );
  if (found.hasMore) say("There are more: REST pages through them.");
}

function rowOf(one: ListedToken): string[] {
  return [
    one.prefix,
    one.state,
    oneLine(one.name, 30),
    one.capabilities.join(","),
    one.pinnedRootId?.slice(0, 8) ?? one.rootIds?.map((id) => id.slice(0, 8)).join(",") ?? "everything",
    one.agentId ?? "",
    one.lastUsedAt === null ? "never" : since(one.lastUsedAt),
    one.expiresAt.slice(0, 10),
  ];
}

/** The secret alone goes to standard output, so that it can be piped into a file. */
function showSecret(options: Options, made: MintedToken): void {
  const json = options["json"] === true;
  if (!json) say(`${made.prefix} until ${made.expiresAt.slice(0, 10)}. Shown once; keep it as MUSTER_TOKEN:`);
  print(json, made, () => made.token);
}

type TokenOperation = "create_token" | "list_tokens" | "rotate_token" | "revoke_token";

/** On the server that runs, or else on its database. */
async function run<N extends TokenOperation>(
  options: Options,
  name: N,
  input: Readonly<Record<string, unknown>>,
  rest: RestCall,
): Promise<OutputOf<N>> {
  const operation = operationByName.get(name);
  if (operation === undefined) throw new Error(`There is no operation ${name}.`);
  // Here already, so that a spelling mistake is told before anything is looked for.
  parseInput(operation, input as RequestOf<N>);
  const { urls, dataDir, token } = readConfig(clientConfig);
  const local = options["direct"] === true || urls.length > 0 ? null : await findLocalServer(dataDir);
  const servers = local === null ? urls : [local];
  if (options["direct"] !== true && servers.length > 0)
    return (await call(rest, { urls: servers, token })) as OutputOf<N>;
  const { onDatabase } = await import("../token/main.ts");
  return (await onDatabase(name, input)) as OutputOf<N>;
}

function listOf(text: unknown): string[] {
  return String(text)
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function lifeOf({ days }: Options): { readonly expiresInDays?: number } {
  return days === undefined ? {} : { expiresInDays: Number(days) };
}
