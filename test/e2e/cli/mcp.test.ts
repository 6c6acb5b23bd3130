/** `muster mcp` as an MCP client starts it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, describe, expect, it } from "vitest";
import { readServerAddress } from "../../../services/runtime/data-directory.ts";
import { prepareDataDirectory } from "../../support/alone-directory.ts";
import { MUSTER_PROGRAM, runMuster, spawnMuster } from "../../support/processes.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";

const open: (Disposable | AsyncDisposable)[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) {
    if (Symbol.asyncDispose in one) await one[Symbol.asyncDispose]();
    else one[Symbol.dispose]();
  }
});

/** A data directory whose server is ended with the test: one in the background belongs to nobody. */
async function directory(): Promise<string> {
  const folder = temporaryFolder();
  const path = join(folder.path, "data");
  open.push(folder, { [Symbol.asyncDispose]: () => endServer(path) });
  await prepareDataDirectory(path);
  return path;
}

async function endServer(dataDir: string): Promise<void> {
  const pid = readServerAddress(dataDir)?.pid;
  if (pid === undefined || !isAlive(pid)) return;
  process.kill(pid, "SIGTERM");
  await until(() => !isAlive(pid));
}

/** A client whose entry in mcp.json is what `muster start` prints. */
async function connect(dataDir: string): Promise<Client> {
  const client = new Client({ name: "muster-tests", version: "1.0.0" });
  const env = { PATH: process.env["PATH"] ?? "", MUSTER_DATA_DIR: dataDir };
  const command = { command: process.execPath, args: [MUSTER_PROGRAM, "mcp"], env, stderr: "pipe" as const };
  await client.connect(new StdioClientTransport(command));
  open.push({ [Symbol.asyncDispose]: () => client.close() });
  return client;
}

async function titlesSeenBy(client: Client): Promise<string[]> {
  const { structuredContent } = await client.callTool({
    name: "query_items",
    arguments: { operation: "search" },
  });
  return (structuredContent as { items: { title: string }[] }).items.map((item) => item.title);
}

function create(client: Client, title: string): Promise<unknown> {
  const requestId = crypto.randomUUID();
  const actor = { id: "tester", kind: "user" };
  return client.callTool({
    name: "manage_items",
    arguments: { operation: "create", items: [{ title }], actor, requestId },
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("muster mcp", () => {
  it("starts a server in the background when none runs, which later clients find and which outlives them", async () => {
    const dataDir = await directory();
    const first = await connect(dataDir);
    await create(first, "left by the first client");
    const server = readServerAddress(dataDir);
    if (server === null) throw new Error("No server announced itself.");
    await first.close();
    const second = await connect(dataDir);
    expect(await titlesSeenBy(second)).toEqual(["left by the first client"]);
    expect(readServerAddress(dataDir)).toEqual(server);
    expect(isAlive(server.pid)).toBe(true);
  });

  it("two clients that start at once share one server", async () => {
    const dataDir = await directory();
    const [one, other] = await Promise.all([connect(dataDir), connect(dataDir)]);
    await create(one, "seen by both");
    expect(await titlesSeenBy(other)).toEqual(["seen by both"]);
  });

  it("uses the server that runs already", async () => {
    const dataDir = await directory();
    await using server = await spawnMuster(["start"], { MUSTER_DATA_DIR: dataDir, MUSTER_PORT: "0" });
    const client = await connect(dataDir);
    await create(client, "made over stdio");
    const { stdout } = await runMuster(["item", "list"], { MUSTER_URL: server.url });
    expect(stdout).toContain("made over stdio");
    expect(existsSync(join(dataDir, "server.log"))).toBe(false);
  });

  it("finds another server, or starts one, when the one it used is gone", async () => {
    const dataDir = await directory();
    const server = await spawnMuster(["start"], { MUSTER_DATA_DIR: dataDir, MUSTER_PORT: "0" });
    const client = await connect(dataDir);
    await create(client, "before");
    await server.stop();
    await create(client, "after");
    expect((await titlesSeenBy(client)).toSorted()).toEqual(["after", "before"]);
  });
});
