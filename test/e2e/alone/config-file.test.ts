/** The server's own configuration file, as somebody who starts Muster meets it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { createClient, type Client } from "../../../services/worker-sdk/client.ts";
import { prepareDataDirectory } from "../../support/alone-directory.ts";
import { runMuster, spawnMuster } from "../../support/processes.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";

const open: (Disposable | AsyncDisposable)[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) {
    if (Symbol.asyncDispose in one) await one[Symbol.asyncDispose]();
    else one[Symbol.dispose]();
  }
});

async function newDirectory(): Promise<string> {
  const folder = temporaryFolder();
  open.push(folder);
  const path = join(folder.path, "data");
  await prepareDataDirectory(path);
  return path;
}

async function start(environment: Readonly<Record<string, string>>): Promise<(id: string) => Client> {
  const server = await spawnMuster(["start"], { ...environment, MUSTER_PORT: "0" });
  open.push(server);
  return (id) => {
    const client = createClient({ url: `${server.url}/mcp`, agent: { id, kind: "subagent" }, retryForMs: 0 });
    open.push({ [Symbol.dispose]: () => client.close() });
    return client;
  };
}

const BROKEN = "work_item_schemas: {task: {notes: [{key: plan, role: wrk}]}}\n";
const ROLE_FAULT = "work_item_schemas.task.notes[0].role: must be one of queue, work, review";

describe("the configuration file at a start", () => {
  it.each([
    ["named by MUSTER_CONFIG", "elsewhere.yaml"],
    ["in the data directory", "config.yaml"],
  ])("a broken one %s ends it with 78 and the place of the fault [B84]", async (_, name) => {
    const dataDir = await newDirectory();
    const path = join(dataDir, name);
    writeFileSync(path, BROKEN);
    const named = name === "config.yaml" ? {} : { MUSTER_CONFIG: path };
    const ended = await runMuster(["start"], { MUSTER_DATA_DIR: dataDir, MUSTER_PORT: "0", ...named });
    expect(ended.code).toBe(78);
    expect(ended.stderr).toContain(path);
    expect(ended.stderr).toContain(ROLE_FAULT);
  });

  it("one that was named and is not there ends it with 78", async () => {
    const dataDir = await newDirectory();
    const environment = { MUSTER_DATA_DIR: dataDir, MUSTER_CONFIG: join(dataDir, "nowhere.yaml") };
    expect(await runMuster(["start"], environment)).toMatchObject({
      code: 78,
      stderr: expect.stringContaining("no such file") as string,
    });
  });

  it("its schemas and its rule of identity hold, and a change of it takes effect", async () => {
    const dataDir = await newDirectory();
    const path = join(dataDir, "config.yaml");
    writeFileSync(path, "identity: actor\nwork_item_schemas: {task: {lifecycle: manual, notes: []}}\n");
    const connect = await start({ MUSTER_DATA_DIR: dataDir });
    const ada = connect("ada");
    const lifecycle = async (): Promise<unknown> =>
      ((await ada.call("query_items", { operation: "schema", type: "task" })) as { lifecycle?: string })
        .lifecycle;
    expect(await lifecycle()).toBe("manual");

    const { items } = (await ada.call("manage_items", {
      operation: "create",
      items: [{ title: "one" }],
    })) as {
      items: { id: string }[];
    };
    const claim = (workerId: string) =>
      ada.call("claim_item", { requestId: randomUUID(), workerId, claims: [{ itemId: items[0]?.id ?? "" }] });
    // The name is the holder: another session of it goes on with what it holds.
    for (const workerId of ["one", "two"])
      expect(await claim(workerId)).toMatchObject({ claims: [{ outcome: "success" }] });

    writeFileSync(path, "identity: actor\nwork_item_schemas: {task: {lifecycle: permanent, notes: []}}\n");
    await until(async () => (await lifecycle()) === "permanent");
  });
});
