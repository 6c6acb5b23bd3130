/** `muster import`, as an operator runs it. */
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase } from "../../support/database.ts";
import { runMuster, spawnMuster } from "../../support/processes.ts";
import { idOf, TaskOrchestratorDatabase } from "../../support/task-orchestrator-file.ts";
import { temporaryFolder, type TemporaryFolder } from "../../support/temporary-folder.ts";

let folder: TemporaryFolder;
let file: string;
let runs = 0;
let dataDir = "";
beforeAll(() => {
  folder = temporaryFolder();
  file = join(folder.path, "tasks.db");
  const database = new TaskOrchestratorDatabase(file);
  const root = database.item({ title: "Shop", tags: "web, shop" });
  const [cart, pay] = ["Cart", "Payment"].map((title) =>
    database.item({ title, parent_id: idOf(root), depth: 1 }),
  ) as [string, string];
  database.edge(cart, pay);
  database.note(cart, { body: "Plan of the cart." });
  database.item({ title: "Nowhere", parent_id: idOf("11111111-1111-4111-8111-111111111111") });
  database.save();
  database.close();
});
afterAll(() => folder[Symbol.dispose]());
beforeEach(() => {
  runs += 1;
  dataDir = join(folder.path, `muster-${runs}`);
});

const importing = (env: Record<string, string>, more: readonly string[] = []) =>
  runMuster(["import", "--from", "task-orchestrator", file, ...more], env);

describe("muster import", () => {
  it("brings a file over, says what stayed away, and changes nothing the second time", async () => {
    const first = await importing({ MUSTER_DATA_DIR: dataDir });
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout).toContain("its parent does not exist");
    expect(first.stdout).toContain("was written without its spaces");
    const again = await importing({ MUSTER_DATA_DIR: dataDir }, ["--json"]);
    expect(JSON.parse(again.stdout)).toMatchObject({
      tables: { work_items: { found: 4, imported: 0, alreadyThere: 3, leftOut: 1 } },
    });
    await using server = await spawnMuster(["start"], { MUSTER_DATA_DIR: dataDir, MUSTER_PORT: "0" });
    const listed = await runMuster(["item", "list", "--readiness", "ready"], { MUSTER_DATA_DIR: dataDir });
    expect(server.url).toContain("127.0.0.1");
    expect(listed.stdout).toContain("Cart");
    expect(listed.stdout).not.toContain("Payment");
  });

  it("is refused while a server holds the data directory", async () => {
    await using server = await spawnMuster(["start"], { MUSTER_DATA_DIR: dataDir, MUSTER_PORT: "0" });
    const refused = await importing({ MUSTER_DATA_DIR: dataDir });
    expect(refused.code).toBe(69);
    expect(refused.stderr).not.toBe("");
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  });

  it("imports into PostgreSQL", async () => {
    await using database = await createTestDatabase({ kind: "pg" });
    const report = await importing({ MUSTER_DATABASE_URL: database.url ?? "", MUSTER_DATA_DIR: dataDir }, [
      "--json",
    ]);
    expect(JSON.parse(report.stdout)).toMatchObject({ tables: { work_items: { imported: 3, leftOut: 1 } } });
    expect(await database.db.selectFrom("notes").select("body").execute()).toEqual([
      { body: "Plan of the cart." },
    ]);
  });

  it("refuses a database of another version, a file that is none, and a tool that it does not know", async () => {
    const path = join(folder.path, "old.db");
    const old = new TaskOrchestratorDatabase(path, "9");
    old.save();
    old.close();
    const env = { MUSTER_DATA_DIR: dataDir };
    const other = await runMuster(["import", "--from", "task-orchestrator", path], env);
    expect(other).toMatchObject({ code: 4, stdout: "" });
    expect(other.stderr).toContain("version 9");
    expect((await runMuster(["import", "--from", "task-orchestrator", "none.db"], env)).code).toBe(4);
    expect((await runMuster(["import", "--from", "jira", file], env)).code).toBe(2);
  });
});
