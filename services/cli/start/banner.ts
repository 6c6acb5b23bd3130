/** What `muster start` prints once it serves: where it is, how to connect an agent, what to type next. */
import { resolve } from "node:path";

export interface Started {
  readonly version: string;
  readonly url: string;
  /** The data directory, and where the rows are if they are not in it. */
  readonly dataDir: string;
  readonly database: string;
  /** Absolute paths of this Node and of the `muster` program. */
  readonly node: string;
  readonly program: string;
}

/** The entry of an MCP client that starts its servers itself. Absolute paths: it has another PATH and folder. */
export function stdioEntry({ node, program, dataDir }: Started): object {
  return {
    mcpServers: { muster: { command: node, args: [program, "mcp"], env: { MUSTER_DATA_DIR: dataDir } } },
  };
}

/** The entry of an MCP client that speaks HTTP. */
function urlEntry({ url }: Started): object {
  return { mcpServers: { muster: { type: "http", url: `${url}/mcp` } } };
}

/** For people. The first line is fixed: programs wait for it. */
export function bannerText(started: Started): string {
  const { version, url, dataDir, database } = started;
  return [
    `Muster ${version} listening on ${url}`,
    "",
    `MCP    ${url}/mcp`,
    "",
    "mcp.json of a client that starts its servers (stdio):",
    JSON.stringify(stdioEntry(started), null, 2),
    "",
    "or of a client that speaks HTTP:",
    JSON.stringify(urlEntry(started)),
    "",
    `Data   ${database === "embedded" ? dataDir : `${database}; own files in ${dataDir}`}`,
    `Next   open ${url} in a browser, or run: ${statusCommand(dataDir)}`,
    "",
  ].join("\n");
}

/** What finds this server from the folder it was started in. */
function statusCommand(dataDir: string): string {
  const command = "npx muster status";
  return dataDir === resolve(".muster") ? command : `MUSTER_DATA_DIR='${dataDir}' ${command}`;
}

/** For programs: one line. */
export function bannerJson(started: Started): string {
  const { version, url, dataDir, database } = started;
  return JSON.stringify({
    event: "listening",
    version,
    url,
    mcpUrl: `${url}/mcp`,
    pid: process.pid,
    dataDir,
    database,
    mcpJson: { stdio: stdioEntry(started), http: urlEntry(started) },
  });
}
