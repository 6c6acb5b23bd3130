/** The commands of an operator against a server that runs. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { VERSION } from "../../../services/runtime/version.ts";
import { createClient, type Client } from "../../../services/worker-sdk/client.ts";
import { prepareDataDirectory } from "../../support/alone-directory.ts";
import { type MusterProcess, runMuster, spawnMuster } from "../../support/processes.ts";
import { temporaryFolder, type TemporaryFolder } from "../../support/temporary-folder.ts";

let folder: TemporaryFolder;
let dataDir: string;
let server: MusterProcess;
let client: Client;
let itemId: string;

beforeAll(async () => {
  folder = temporaryFolder();
  dataDir = join(folder.path, ".muster");
  await prepareDataDirectory(dataDir);
  server = await spawnMuster(["start"], { MUSTER_DATA_DIR: dataDir, MUSTER_PORT: "0" });
  client = createClient({ url: `${server.url}/mcp?toolset=all`, agent: { id: "builder", kind: "subagent" } });
  await client.call("manage_items", {
    operation: "create",
    items: [{ title: "Paint the fence\u001b[31m red", priority: "high" }, { title: "Mow the lawn" }],
  });
  const { claim } = await client.claim({ selector: { priority: "high" }, ttlSeconds: 300 });
  if (claim.outcome !== "success") throw new Error(`Nothing was claimed: ${claim.outcome}`);
  itemId = claim.itemId;
});
afterAll(async () => {
  client?.close();
  await server?.stop();
  folder[Symbol.dispose]();
});

const here = (): Record<string, string> => ({ MUSTER_DATA_DIR: dataDir });
const elsewhere = (): Record<string, string> => ({ MUSTER_DATA_DIR: join(folder.path, "nothing-here") });

async function json(args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runMuster([...args, "--json"], here());
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

describe("muster status", () => {
  it("finds the server through the data directory and says how it is, as JSON on request", async () => {
    expect(await json(["status"])).toMatchObject({
      url: server.url,
      version: VERSION,
      mode: "alone",
      ready: true,
      checks: { database: { ok: true } },
      counts: { items: 2, ready: 1, claimed: 1 },
    });
  });

  it("finds the server of a folder above", async () => {
    const { code, stdout } = await runMuster(["status"], elsewhere(), { cwd: join(dataDir, "database") });
    expect(code).toBe(0);
    expect(stdout).toContain(server.url);
  });

  it("goes where MUSTER_URL says, trying the addresses in turn", async () => {
    const env = { ...elsewhere(), MUSTER_URL: `http://127.0.0.1:1,${server.url}` };
    expect(await runMuster(["status"], env)).toMatchObject({ code: 0 });
  });

  it("says that there is none, why, and what to do, with 69 and nothing on standard output", async () => {
    const { code, stdout, stderr } = await runMuster(["status"], elsewhere(), { cwd: "/" });
    expect([code, stdout]).toEqual([69, ""]);
    expect(stderr).toContain("No Muster is running here");
    expect(stderr).toContain("muster start");
  });
});

describe("lists", () => {
  it("muster claim list says who holds what, since when and until when", async () => {
    const { claims } = await json(["claim", "list"]);
    expect(claims).toMatchObject([{ itemId, agent: "builder", lapsed: false, ttlSeconds: 300 }]);
    const { stdout } = await runMuster(["claim", "list"], here());
    expect(stdout).toContain(itemId.slice(0, 8));
    expect(stdout).toContain("builder");
  });

  it("muster agent list takes a filter and shows nobody else", async () => {
    expect(await json(["agent", "list", "--holding"])).toMatchObject({
      agents: [{ agent: "builder", claims: 1 }],
    });
  });

  it("muster item list and show tell items without letting their titles speak to the terminal", async () => {
    const { items, hasMore } = await json(["item", "list", "--limit", "1"]);
    expect([(items as unknown[]).length, hasMore]).toEqual([1, true]);
    const listed = await runMuster(["item", "list"], here());
    expect(listed.stdout).toContain("Mow the lawn");
    expect(listed.stdout).not.toContain("\u001b");
    expect(await json(["item", "show", itemId.slice(0, 8)])).toMatchObject({ id: itemId, isClaimed: true });
  });

  it("an item that is not there ends with 3, one that cannot be meant with 2, both with the next step", async () => {
    const absent = await runMuster(["item", "show", "00000000-0000-4000-8000-000000000000"], here());
    expect(absent.code).toBe(3);
    expect(absent.stderr.trim().split("\n").length).toBeGreaterThan(1);
    const malformed = await runMuster(["item", "show", "abc", "--json"], here());
    expect(malformed.code).toBe(2);
    expect(JSON.parse(malformed.stderr)).toMatchObject({ error: { exitCode: 2, code: "VALIDATION_ERROR" } });
  });
});

describe("muster doctor", () => {
  it("finds nothing wrong with a server that runs", async () => {
    const { ok, findings } = await json(["doctor"]);
    expect(ok).toBe(true);
    expect((findings as { check: string }[]).map(({ check }) => check)).toEqual(
      expect.arrayContaining(["config", "server", "database", "sweep"]),
    );
  });

  it("does not make a data directory where there was none", async () => {
    expect(await runMuster(["doctor"], elsewhere(), { cwd: "/" })).toMatchObject({ code: 0 });
    expect(await runMuster(["status"], elsewhere(), { cwd: "/" })).toMatchObject({ code: 69 });
  });

  it("says which of several services is away, and ends with 1", async () => {
    const env = {
      ...here(),
      MUSTER_DATABASE_URL: "postgres://nobody:secret@127.0.0.1:1/none",
      MUSTER_REDIS_URL: "redis://127.0.0.1:1",
    };
    const { code, stdout } = await runMuster(["doctor"], env);
    expect(code).toBe(1);
    expect(stdout).toMatch(/!! +database/);
    expect(stdout).toMatch(/!! +redis/);
    expect(stdout).not.toContain("secret");
  });
});

describe("the command line", () => {
  it("knows its version", async () => {
    expect(await runMuster(["--version"], {})).toMatchObject({ code: 0, stdout: `${VERSION}\n` });
  });

  it.each([[["fly"]], [["start", "--idle-stop", "soon"]], [["claim", "list", "--nope"]], [["work"]]])(
    "%j is a usage error: 2, told on standard error",
    async (args) => {
      const { code, stdout, stderr } = await runMuster(args, elsewhere());
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toContain("error:");
    },
  );
});
