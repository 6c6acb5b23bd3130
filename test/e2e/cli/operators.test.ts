/** The commands of operators, noun then verb, against a server that runs. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient, type Client } from "../../../services/worker-sdk/client.ts";
import { prepareDataDirectory } from "../../support/alone-directory.ts";
import { MUSTER_PROGRAM, type MusterProcess, runMuster, spawnMuster } from "../../support/processes.ts";
import { until } from "../../support/until.ts";
import { temporaryFolder, type TemporaryFolder } from "../../support/temporary-folder.ts";

let folder: TemporaryFolder;
let server: MusterProcess;
let client: Client;
let env: Record<string, string>;

beforeAll(async () => {
  folder = temporaryFolder();
  env = { MUSTER_DATA_DIR: join(folder.path, ".muster") };
  await prepareDataDirectory(env["MUSTER_DATA_DIR"] ?? "");
  server = await spawnMuster(["start"], { ...env, MUSTER_PORT: "0" });
  client = createClient({ url: `${server.url}/mcp?toolset=all`, agent: { id: "ada", kind: "subagent" } });
});
afterAll(async () => {
  client?.close();
  await server?.stop();
  folder[Symbol.dispose]();
});

async function json<T = Record<string, unknown>>(args: readonly string[], code = 0): Promise<T> {
  const ran = await runMuster([...args, "--json"], env);
  expect([ran.code, code === 0 ? ran.stderr : ""]).toEqual([code, ""]);
  return JSON.parse(code === 0 || ran.stdout !== "" ? ran.stdout : ran.stderr) as T;
}

async function make(title: string): Promise<string> {
  return (await json<{ id: string }>(["item", "create", title, "--tags", "made-here", "--priority", "high"]))
    .id;
}

describe("muster item", () => {
  it("makes, moves, explains, deletes and restores an item", async () => {
    const id = await make("Paint the fence");
    expect(await json(["item", "explain", id.slice(0, 8)])).toMatchObject({ itemId: id, offered: true });
    expect(await json(["item", "move", id, "start"])).toMatchObject({ newRole: "work" });
    const refused = await runMuster(["item", "move", id, "reopen"], env);
    expect(refused.code).toBe(4);
    expect(refused.stderr).not.toBe("");
    expect((await runMuster(["item", "delete", id], env)).code).toBe(2);
    expect(await json(["item", "delete", id, "--yes"])).toEqual({ id, deleted: true });
    const { entries } = await json<{ entries: { trashId: string; itemId: string }[] }>(["trash", "list"]);
    expect(entries).toMatchObject([{ itemId: id }]);
    const back = await json(["trash", "restore", entries[0]?.trashId ?? ""]);
    expect(back).toMatchObject({ restored: 1 });
    expect((await runMuster(["trash", "restore", randomUUID()], env)).code).toBe(4);
  });
});

describe("muster claim", () => {
  it("takes, keeps, gives back and revokes, and shows the attempts", async () => {
    const id = await make("Mow the lawn");
    const mine = await json<{ fence: number; workerId: string }>([
      "claim",
      "take",
      id,
      "--start",
      "--ttl",
      "60",
    ]);
    const held = `${id}:${mine.fence}`;
    const as = ["--worker-id", mine.workerId];
    expect(await json(["claim", "refresh", held, ...as])).toMatchObject({
      refreshes: [{ outcome: "success" }],
    });
    expect((await runMuster(["claim", "take", id], env)).code).toBe(4);
    expect(await json(["claim", "release", held, "--requeue", ...as])).toMatchObject({
      releases: [{ role: "queue" }],
    });
    const { claim } = await client.claim({ selector: { tags: "made-here" }, start: true });
    expect(claim.outcome).toBe("success");
    const revoke = ["claim", "revoke", "--agent", "ada", "--reason", "wanted elsewhere"];
    expect(await json([...revoke, "--dry-run"])).toMatchObject({ matched: 1, dryRun: true });
    const asking = await runMuster(revoke, env);
    expect([asking.code, asking.stdout]).toEqual([2, ""]);
    expect(asking.stderr).toContain("--yes");
    expect((await runMuster(["claim", "revoke", "--all", "--yes"], env)).code).toBe(2);
    expect(await json([...revoke, "--yes"])).toMatchObject({ revoked: [{ role: "queue" }], failed: 0 });
    const revoked = claim.outcome === "success" ? claim.itemId : "";
    expect(await json(["item", "attempts", revoked])).toMatchObject({
      attempts: [{ agent: "ada", endReason: "revoked", detail: "wanted elsewhere" }],
    });
    const shown = await runMuster(["item", "attempts", revoked], env);
    expect(shown.stdout).toMatch(/FENCE +AGENT/);
  });
});

describe("muster agent and dead", () => {
  it("drains an agent and lets it go", async () => {
    await json(["agent", "drain", "ada", "--reason", "moves", "--yes"]);
    expect(await json(["agent", "list", "--drained"])).toMatchObject({ agents: [{ agent: "ada" }] });
    expect((await client.claim({ selector: {} })).claim).toMatchObject({ outcome: "agent_drained" });
    await json(["agent", "undrain", "ada", "--reason", "moved"]);
    expect(await json(["agent", "list", "--drained"])).toMatchObject({ total: 0 });
  });

  it("replays what is dead, and says that nothing else is", async () => {
    const id = await make("Cannot be done");
    const { claim } = await client.claim({ itemId: id, start: true });
    if (claim.outcome !== "success") throw new Error(`not claimed: ${claim.outcome}`);
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await client.claim({ itemId: id, start: true });
      const call = { itemId: id, trigger: "fail", reason: "it burns" } as const;
      const who = { actor: { id: "ada", kind: "subagent" }, workerId: client.workerId } as const;
      await client.call("advance_item", { transitions: [call], ...who, requestId: randomUUID() });
    }
    expect(await json(["dead", "list"])).toMatchObject({ items: [{ itemId: id, lastDetail: "it burns" }] });
    const replay = ["dead", "replay", "--all", "--reason", "the fire is out", "--yes"];
    expect(await json(replay)).toMatchObject({ items: [{ itemId: id, role: "queue" }] });
    expect(await json(replay)).toMatchObject({ matched: 0 });
    expect((await runMuster(["dead", "list"], env)).stdout).toBe("Nothing is dead.\n");
  });
});

describe("muster lease and config", () => {
  it("shows leases, and takes away none that nobody has", async () => {
    expect(await json(["lease", "list"])).toMatchObject({ leases: [], total: 0 });
    expect(await json(["lease", "history", "--key", "eu/staging-db"])).toMatchObject({ intervals: [] });
    const none = await runMuster(["lease", "release", "eu/staging-db", "--reason", "stuck", "--yes"], env);
    expect(none.code).toBe(3);
  });

  it("gives a project its configuration, prints it, and takes it away", async () => {
    const root = await make("A project");
    const pushed = await runMuster(["config", "push", root, "-"], env, { stdin: "note_limits: {}\n" });
    expect(pushed.code).toBe(0);
    expect((await runMuster(["config", "get", root], env)).stdout).toContain("note_limits");
    await json(["config", "delete", root, "--reason", "done", "--yes"]);
    expect((await runMuster(["config", "get", root], env)).code).toBe(3);
    expect(await json(["config", "show"])).toHaveProperty("fingerprint");
  });
});

describe("muster events", () => {
  it("follows what happens, of the types that are asked for", async () => {
    const following = spawn(
      process.execPath,
      [MUSTER_PROGRAM, "events", "--types", "item.created", "--count", "1", "--json"],
      { env: { ...process.env, ...env } },
    );
    let said = "";
    following.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
    const ended = once(following, "close");
    // Nobody says when the stream is open, so items are made until it has told of one.
    await until(async () => {
      await make("Told of");
      return said !== "";
    }, 90_000);
    expect(await ended).toEqual([0, null]);
    expect(JSON.parse(said)).toMatchObject({ event: "item.created", data: { event: "item.created" } });
  });
});

describe("--watch", () => {
  it("prints a line of JSON whenever something changed, until it is stopped", async () => {
    const watching = spawn(
      process.execPath,
      [MUSTER_PROGRAM, "item", "list", "--tags", "watched", "--watch", "0.05", "--json"],
      { env: { ...process.env, ...env } },
    );
    const lines = createInterface({ input: watching.stdout })[Symbol.asyncIterator]();
    const next = async (): Promise<unknown> => JSON.parse(String((await lines.next()).value)) as unknown;
    expect(await next()).toMatchObject({ items: [] });
    await client.call("manage_items", { operation: "create", items: [{ title: "New", tags: "watched" }] });
    expect(await next()).toMatchObject({ items: [{ title: "New" }] });
    watching.kill();
  });
});
