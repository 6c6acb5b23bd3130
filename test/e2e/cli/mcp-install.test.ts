/** `muster mcp install | uninstall | status` in a home of its own. */
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { runMuster } from "../../support/processes.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

interface Client {
  readonly client: string;
  readonly file: string;
  readonly state: string;
  readonly modified: boolean;
}

function home() {
  const folder = temporaryFolder();
  const run = async (args: readonly string[]): Promise<{ code: number | null; clients: Client[] }> => {
    const { code, stdout } = await runMuster(
      ["mcp", ...args, "--json"],
      { HOME: folder.path, MUSTER_DATA_DIR: join(folder.path, "data"), MUSTER_TOKEN: "muster_secret" },
      { cwd: folder.path },
    );
    return { code, clients: (JSON.parse(stdout) as { clients: Client[] }).clients };
  };
  return { path: folder.path, run, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

it("puts Muster into every client that is there, once, and takes it out again", async () => {
  using at = home();
  for (const folder of [".cursor", ".codex"]) mkdirSync(join(at.path, folder));
  const codex = join(at.path, ".codex", "config.toml");
  writeFileSync(codex, 'model = "o3"\n');
  chmodSync(codex, 0o640);
  const first = await at.run(["install", "--all"]);
  expect(first.code).toBe(0);
  expect(first.clients.filter((one) => one.modified).map((one) => one.client)).toEqual(["cursor", "codex"]);
  expect(existsSync(join(at.path, ".codeium"))).toBe(false);
  const cursor = join(at.path, ".cursor", "mcp.json");
  expect(statSync(cursor).mode & 0o777).toBe(0o600);
  expect(statSync(codex).mode & 0o777).toBe(0o640);
  expect(readFileSync(`${codex}.before-muster`, "utf8")).toBe('model = "o3"\n');
  const { mcpServers } = JSON.parse(readFileSync(cursor, "utf8")) as {
    mcpServers: { muster: { command: string; args: string[]; env: Record<string, string> } };
  };
  expect(mcpServers.muster.command).toBe(process.execPath);
  expect(existsSync(mcpServers.muster.args[0] ?? "")).toBe(true);
  expect(mcpServers.muster.env).toEqual({ MUSTER_DATA_DIR: join(at.path, "data") });
  expect(readFileSync(codex, "utf8") + readFileSync(cursor, "utf8")).not.toContain("muster_secret");

  expect((await at.run(["install", "--all"])).clients.some((one) => one.modified)).toBe(false);
  const states = (await at.run(["status"])).clients.map((one) => [one.client, one.state]);
  expect(Object.fromEntries(states)).toMatchObject({
    cursor: "installed",
    codex: "installed",
    windsurf: "not there",
  });
  await at.run(["uninstall", "--all"]);
  expect(readFileSync(codex, "utf8")).toBe('model = "o3"\n');
  expect((await at.run(["uninstall", "cursor"])).clients).toMatchObject([
    { state: "absent", modified: false },
  ]);
});

it("writes a project's file only when it is named, and makes what a named client lacks", async () => {
  using at = home();
  await at.run(["install", "--all"]);
  expect(existsSync(join(at.path, ".mcp.json"))).toBe(false);
  for (const name of ["Claude-Code", "claude-desktop", "windsurf", "VSCode"]) {
    const { clients } = await at.run(["install", name]);
    expect(clients).toMatchObject([{ state: "changed", modified: true }]);
    expect(readFileSync(clients[0]?.file ?? "", "utf8")).toContain("muster");
  }
});

it("leaves a file that it does not understand exactly as it is, and ends with 4", async () => {
  using at = home();
  const file = join(at.path, ".cursor", "mcp.json");
  mkdirSync(dirname(file));
  writeFileSync(file, '{ "mcpServers": { // mine\n } }');
  const { code, clients } = await at.run(["install", "cursor"]);
  expect([code, clients[0]?.state]).toEqual([4, "refused"]);
  expect(readFileSync(file, "utf8")).toBe('{ "mcpServers": { // mine\n } }');
});

it("changes nothing in a dry run; a client that is not known is a usage error that names those that are", async () => {
  using at = home();
  const { clients } = await at.run(["install", "cursor", "--dry-run"]);
  expect(clients).toMatchObject([{ modified: true }]);
  expect(existsSync(clients[0]?.file ?? "")).toBe(false);
  const unknown = await runMuster(["mcp", "install", "emacs"], { HOME: at.path }, { cwd: at.path });
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toContain("windsurf");
});
