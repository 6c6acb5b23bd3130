/** `muster work` against a real server: what the exit code of a program does to its item. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient, type Client } from "../../../services/worker-sdk/client.ts";
import { prepareDataDirectory } from "../../support/alone-directory.ts";
import { type MusterEnv, type MusterProcess, runMuster, spawnMuster } from "../../support/processes.ts";
import { temporaryFolder, type TemporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";

let folder: TemporaryFolder;
let server: MusterProcess;
let client: Client;
let env: MusterEnv;

beforeAll(async () => {
  folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  await prepareDataDirectory(dataDir);
  env = { MUSTER_DATA_DIR: dataDir };
  server = await spawnMuster(["start"], { ...env, MUSTER_PORT: "0" });
  client = createClient({ url: `${server.url}/mcp?toolset=all`, agent: { id: "planner", kind: "user" } });
});
afterAll(async () => {
  client?.close();
  await server?.stop();
  folder[Symbol.dispose]();
});

async function plant(tag: string, ...titles: string[]): Promise<void> {
  await client.call("manage_items", {
    operation: "create",
    items: titles.map((title) => ({ title, tags: tag })),
  });
}

async function rolesOf(tag: string): Promise<string[]> {
  const answer = await client.call("query_items", { operation: "search", tags: tag });
  return ("items" in answer ? answer.items : []).map((item) => item.role);
}

describe("muster work", () => {
  it("runs a program for every item that matches, and hands in those that end with 0", async () => {
    await plant("done", "one", "two", "three");
    const program =
      "let text = ''; process.stdin.on('data', (d) => (text += d)).on('end', () => {" +
      "const item = JSON.parse(text); if (item.id !== process.env.MUSTER_ITEM_ID) process.exit(9); console.log(item.title); });";
    const args = ["work", "--json", "--selector", '{"tags":"done"}', "--slots", "2", "--until-empty"];
    const { code, stdout, stderr } = await runMuster([...args, "--", process.execPath, "-e", program], env);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ completed: 3, handedBack: 0, failed: 0, lost: 0 });
    for (const title of ["one", "two", "three"]) expect(stderr).toContain(title);
    expect(await rolesOf("done")).toEqual(["terminal", "terminal", "terminal"]);
  });

  it("hands an item back on SIGTERM, so that it can be claimed at once", async () => {
    await plant("stopped", "long");
    const worker = await spawnWorker("stopped", "console.log('at it'); setInterval(() => {}, 1000)");
    const ending = await worker.stop("SIGTERM");
    expect(ending.code).toBe(0);
    const { claim } = await client.claim({ selector: { tags: "stopped" } });
    expect(claim.outcome).toBe("success");
  });

  it("fails an attempt whose program fails, with the end of its stderr as evidence", async () => {
    await plant("broken", "will not work");
    const worker = await spawnWorker(
      "broken",
      "console.log('at it'); console.error('no such paint'); process.exit(3)",
    );
    await until(
      () => worker.output.stderr.includes("no such paint") && worker.output.stderr.includes("failed"),
    );
    await worker.stop();
    expect(await rolesOf("broken")).toEqual(["queue"]);
  });

  it("says which part of a selector is wrong before it claims anything, with 2", async () => {
    const { code, stderr } = await runMuster(["work", "--selector", "priority=urgent", "--", "true"], env);
    expect(code).toBe(2);
    expect(stderr).toContain("priority");
  });

  it("names every number that is out of its range, with the range, with 2", async () => {
    const wrong = ["work", "--slots", "0", "--ttl", "90000", "--wait", "soon", "--", "true"];
    const { code, stderr } = await runMuster(wrong, env);
    expect(code).toBe(2);
    expect(stderr).toBe(
      "--slots must be a whole number from 1 to 1000\n" +
        "--ttl must be a whole number from 1 to 86400\n" +
        "--wait must be a whole number from 0 to 50\n",
    );
  });

  it("says in one line that a program cannot be started, and leaves the item as it was", async () => {
    await plant("absent", "has no program");
    const args = ["work", "--selector", "tags=absent", "--", "./no-such-program"];
    const { code, stderr } = await runMuster(args, env);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Cannot start ".\/no-such-program": .*ENOENT\n$/);
    expect(await rolesOf("absent")).toEqual(["queue"]);
  });

  function spawnWorker(tag: string, program: string) {
    return spawnMuster(["work", "--selector", `tags=${tag}`, "--", process.execPath, "-e", program], env);
  }
});
