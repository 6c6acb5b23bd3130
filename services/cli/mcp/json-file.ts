/** Muster's entry in a JSON file of an MCP client. Everything else in it stays, in its order. */
import { ENTRY, type McpClient, type ServerEntry, UnfitFile } from "./clients.ts";

type Table = Readonly<Record<string, unknown>>;

/** @throws UnfitFile if it is not JSON, or not of the form that is expected */
export function withJsonEntry(text: string | null, client: McpClient, entry: ServerEntry): string {
  const { all, servers } = read(text, client);
  const before = isTable(servers[ENTRY]) ? servers[ENTRY] : {};
  const env = { ...(isTable(before["env"]) ? before["env"] : {}), ...entry.env };
  const after = { ...before, ...client.more, command: entry.command, args: entry.args, env };
  return write(text, { ...all, [client.key]: { ...servers, [ENTRY]: after } });
}

/** @throws UnfitFile as above */
export function withoutJsonEntry(text: string, client: McpClient): string {
  const { all, servers } = read(text, client);
  if (!(ENTRY in servers)) return text;
  const { [ENTRY]: _gone, ...rest } = servers;
  return write(text, { ...all, [client.key]: rest });
}

function read(text: string | null, { key }: McpClient): { readonly all: Table; readonly servers: Table } {
  const all = text === null || text.trim() === "" ? {} : parse(text);
  if (!isTable(all)) throw new UnfitFile("it holds something else than an object");
  const servers = all[key] ?? {};
  if (!isTable(servers)) throw new UnfitFile(`its "${key}" is something else than an object`);
  return { all, servers };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, "")) as unknown;
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new UnfitFile(`it is not plain JSON (${cause}); comments would be lost`, { cause: error });
  }
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Indented as it was, so that a person's difference shows one entry. */
function write(before: string | null, value: Table): string {
  const indent = /^([ \t]+)"/m.exec(before ?? "")?.[1] ?? "  ";
  return `${JSON.stringify(value, null, indent)}\n`;
}
