/** `muster export` and `muster import` of a root, as an operator runs them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createTestDatabase } from "../../support/database.ts";
import { plantGraph } from "../../support/fixtures.ts";
import { runMuster } from "../../support/processes.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

it(
  "takes a root from PostgreSQL into an embedded database and back, the same the second time",
  { timeout: 300_000 },
  async () => {
    using folder = temporaryFolder();
    await using database = await createTestDatabase({ kind: "pg" });
    const root = "11111111-1111-4111-8111-111111111111";
    const child = "22222222-2222-4222-8222-222222222222";
    await plantGraph(
      database.db,
      [
        { id: root, title: "Shop" },
        { id: child, title: "Cart", parentId: root },
      ],
      [],
    );
    const fleet = { MUSTER_DATABASE_URL: database.url };
    const alone = { MUSTER_DATA_DIR: join(folder.path, "data") };
    const written = await runMuster(["export", root], fleet);
    expect([written.code, written.stderr]).toEqual([0, expect.stringContaining("2 items") as string]);
    const file = join(folder.path, "shop.jsonl");
    writeFileSync(file, written.stdout);
    const first = await runMuster(["import", file], alone);
    expect([first.code, first.stderr]).toEqual([0, ""]);
    expect(first.stdout).toMatch(/items +2 +2/);
    const again = await runMuster(["import", "-", "--json"], alone, { stdin: written.stdout });
    expect(JSON.parse(again.stdout)).toMatchObject({ tables: { items: { found: 2, imported: 0 } } });
    const back = await runMuster(["export", root], alone);
    expect(back.stdout).toBe(written.stdout);
  },
);

it("refuses a file that was cut off with 4, one that is not there with 3, and a root that is not there with 3", async () => {
  using folder = temporaryFolder();
  const alone = { MUSTER_DATA_DIR: join(folder.path, "data") };
  const file = join(folder.path, "half.jsonl");
  writeFileSync(file, '{"muster":"root","format":1,"rootId":"11111111-1111-4111-8111-111111111111"}\n');
  const half = await runMuster(["import", file], alone);
  expect([half.code, half.stdout]).toEqual([4, ""]);
  expect(half.stderr).toContain("cut off");
  expect((await runMuster(["import", join(folder.path, "none.jsonl")], alone)).code).toBe(3);
  expect((await runMuster(["export", "11111111-1111-4111-8111-111111111111"], alone)).code).toBe(3);
});
