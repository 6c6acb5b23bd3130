/** `muster start` as a user meets it: a real process on a directory of its own. */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createClient, type Client } from "../../../services/worker-sdk/client.ts";
import { VERSION } from "../../../services/runtime/version.ts";
import { prepareDataDirectory } from "../../support/alone-directory.ts";
import { type MusterProcess, runMuster, spawnMuster } from "../../support/processes.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";

const open: (Disposable | AsyncDisposable)[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) {
    if (Symbol.asyncDispose in one) await one[Symbol.asyncDispose]();
    else one[Symbol.dispose]();
  }
});

/** A data directory that does not exist yet. */
function newDirectory(): string {
  const folder = temporaryFolder();
  open.push(folder);
  return join(folder.path, "data");
}

/** One in which Muster has run before. */
async function usedDirectory(): Promise<string> {
  const path = newDirectory();
  await prepareDataDirectory(path);
  return path;
}

async function start(dataDir: string, ...args: string[]): Promise<MusterProcess> {
  const server = await spawnMuster(["start", ...args], { MUSTER_DATA_DIR: dataDir, MUSTER_PORT: "0" });
  open.push(server);
  return server;
}

function clientOf({ url }: MusterProcess): Client {
  const client = createClient({
    url: `${url}/mcp?toolset=all`,
    agent: { id: "tester", kind: "user" },
    retryForMs: 0,
  });
  open.push({ [Symbol.dispose]: () => client.close() });
  return client;
}

async function createItem(client: Client, title: string): Promise<void> {
  await client.call("manage_items", { operation: "create", items: [{ title }] });
}

describe("muster start", () => {
  it("says first where it listens, then how to connect an agent, where the data is and what comes next", async () => {
    const dataDir = await usedDirectory();
    const server = await start(dataDir);
    await until(() => server.output.stdout.includes("Next "));
    const [first, ...rest] = server.output.stdout.split("\n");
    expect(first).toBe(`Muster ${VERSION} listening on ${server.url}`);
    const text = rest.join("\n");
    expect(text).toContain(`MCP    ${server.url}/mcp`);
    expect(text).toContain(dataDir);
    const block = JSON.parse(/^\{[\s\S]*?^\}/m.exec(text)?.[0] ?? "") as {
      mcpServers: { muster: { command: string; args: string[]; env: Record<string, string> } };
    };
    const { command, args, env } = block.mcpServers.muster;
    expect(existsSync(command)).toBe(true);
    expect(existsSync(args[0] ?? "")).toBe(true);
    expect([args[1], env["MUSTER_DATA_DIR"]]).toEqual(["mcp", dataDir]);
  });

  it("keeps its directory to its owner and tells clients on this machine where it is", async () => {
    const dataDir = newDirectory();
    const server = await start(dataDir);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    await until(() => existsSync(join(dataDir, "server.json")));
    const announced: unknown = JSON.parse(readFileSync(join(dataDir, "server.json"), "utf8"));
    expect(announced).toEqual({ url: server.url, pid: server.pid, version: VERSION });
    await server.stop();
    expect(existsSync(join(dataDir, "server.json"))).toBe(false);
  });

  it("refuses a directory that is served already, in one line that names the server, with 69", async () => {
    const dataDir = await usedDirectory();
    const server = await start(dataDir);
    const second = await runMuster(["start"], { MUSTER_DATA_DIR: dataDir, MUSTER_PORT: "0" });
    expect(second).toMatchObject({ code: 69, stdout: "" });
    expect(second.stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(second.stderr).toContain(String(server.pid));
    expect((await fetch(`${server.url}/livez`)).ok).toBe(true);
  });

  it("refuses a taken port in one line, with 69, and leaves the directory free", async () => {
    const squatter = createServer().listen(0, "127.0.0.1");
    await once(squatter, "listening");
    const { port } = squatter.address() as AddressInfo;
    const dataDir = await usedDirectory();
    const refused = await runMuster(["start"], { MUSTER_DATA_DIR: dataDir, MUSTER_PORT: String(port) });
    squatter.close();
    expect(refused).toMatchObject({ code: 69, stdout: "" });
    expect(refused.stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(refused.stderr).toContain(`Port ${port} is taken`);
    await start(dataDir);
  });

  it("names everything that is wrong with its configuration at once, with 78", async () => {
    const env = { MUSTER_PORT: "http", MUSTER_HOST: "0.0.0.0", MUSTER_LOG_LEVEL: "loud" };
    const refused = await runMuster(["start"], { MUSTER_DATA_DIR: newDirectory(), ...env });
    expect(refused.code).toBe(78);
    for (const name of Object.keys(env)) expect(refused.stderr).toContain(name);
  });

  it("stops within two seconds of Ctrl-C, answering a claim that waits", async () => {
    const server = await start(await usedDirectory());
    const client = clientOf(server);
    const waiting = client.claim({ selector: {}, waitSeconds: 50 });
    waiting.catch(() => undefined);
    await until(async () => (await client.call("get_next_item", {})) !== undefined);
    const ending = await server.stop("SIGINT");
    expect(ending.code).toBe(0);
    expect(ending.afterMs).toBeLessThan(2_000);
    const { claim } = await waiting;
    expect(claim.outcome).toBe("queue_empty");
  });

  it("finds its items again after a stop, and after a kill that left its lock behind", async () => {
    const dataDir = await usedDirectory();
    const first = await start(dataDir);
    await createItem(clientOf(first), "kept through a stop");
    await first.stop();
    const second = await start(dataDir);
    await createItem(clientOf(second), "kept through a kill");
    await second.kill();
    const third = await start(dataDir);
    const answer = await clientOf(third).call("query_items", { operation: "search" });
    const titles = ("items" in answer ? answer.items : []).map((item) => item.title);
    expect(titles.toSorted()).toEqual(["kept through a kill", "kept through a stop"]);
  });

  it("answers a call that is repeated after a kill with what it had done, and does nothing twice [B58] [P-26]", async () => {
    const dataDir = await usedDirectory();
    const first = await start(dataDir);
    const actor = { id: "ann", kind: "subagent" as const };
    const repeated = async (server: MusterProcess): Promise<unknown[]> => {
      const client = clientOf(server);
      const made = await client.call("manage_items", create);
      return [made, await client.call("claim_item", claim)];
    };
    const create = {
      operation: "create" as const,
      actor,
      requestId: randomUUID(),
      items: [{ title: "made once" }],
    };
    const claim = {
      actor,
      workerId: "ann-1",
      requestId: randomUUID(),
      claims: [{ selector: {}, start: true }],
    };
    const [made, claimed] = (await repeated(first)) as [{ items: object[] }, { claims: object[] }];
    expect(claimed.claims).toMatchObject([{ outcome: "success", fence: 1, started: true }]);
    await first.kill();

    const second = await start(dataDir);
    const [madeAgain, claimedAgain] = (await repeated(second)) as [typeof made, typeof claimed];
    expect(madeAgain.items).toEqual(made.items.map((item) => ({ ...item, replayed: true })));
    const { msLeft: _, ...settled } = claimed.claims[0] as { msLeft: number };
    expect(claimedAgain.claims).toMatchObject([{ ...settled, replayed: true, fenceCurrent: true }]);
    const found = await clientOf(second).call("query_items", { operation: "search" });
    expect("items" in found ? found.items : []).toHaveLength(1);
  });

  it("knows a session that it signed before it was restarted", async () => {
    const dataDir = await usedDirectory();
    const initialize = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
    };
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const post = (server: MusterProcess, body: object, session?: string) =>
      fetch(`${server.url}/mcp`, {
        method: "POST",
        headers: { ...headers, ...(session === undefined ? {} : { "mcp-session-id": session }) },
        body: JSON.stringify(body),
      });
    const first = await start(dataDir);
    const session = (await post(first, initialize)).headers.get("mcp-session-id") ?? "";
    await first.stop();
    const second = await start(dataDir);
    const listed = await post(second, { jsonrpc: "2.0", id: 2, method: "tools/list" }, session);
    expect(session).not.toBe("");
    expect(listed.status).toBe(200);
  });

  it("with --json says all of it in one line", async () => {
    const dataDir = await usedDirectory();
    const server = await spawnMuster(["start", "--json"], { MUSTER_DATA_DIR: dataDir, MUSTER_PORT: "0" });
    open.push(server);
    const said: unknown = JSON.parse(server.output.stdout.split("\n")[0] ?? "");
    expect(said).toMatchObject({ event: "listening", version: VERSION, pid: server.pid, dataDir });
  });

  it("with --idle-stop ends by itself once no client has shown up for that long", async () => {
    const server = await start(await usedDirectory(), "--idle-stop", "1");
    expect(await server.ended).toMatchObject({ code: 0 });
  });
});
