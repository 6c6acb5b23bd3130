/** A root as lines of JSON: out of one database and into another, with nothing lost on the way. */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bundle, readBundle, UnfitBundle } from "../../../services/contract/root-bundle.ts";
import { exportRoot } from "../../../services/engine/bundle/export-root.ts";
import { type BundleReport, importBundle } from "../../../services/engine/bundle/import-bundle.ts";
import type { OperationName, OutputOf, RequestOf } from "../../../services/contract/registry.ts";
import type { CreateItemsOutput } from "../../../services/contract/operations/manage-items.ts";
import { createTestDatabase, DATABASE_KINDS, type TestDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine, worker } from "../../support/engine.ts";
import { Workbench } from "../items/workbench.ts";

const ada = { actor: worker("ada"), workerId: "ada-1" };

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

describe.each(DATABASE_KINDS)("a root as lines of JSON on %s", (kind) => {
  let here: TestDatabase;
  let there: TestDatabase;
  let from: Workbench;
  let to: Workbench;
  let engines: readonly TestEngine[];
  let root: string;
  beforeAll(async () => {
    [here, there] = await Promise.all([createTestDatabase({ kind }), createTestDatabase({ kind })]);
    [from, to] = [new Workbench(here), new Workbench(there)];
    engines = [createTestEngine(here), createTestEngine(there)];
    root = await fill();
  }, 120_000);
  afterAll(async () => {
    await Promise.all(engines.map((engine) => engine.close()));
    await Promise.all([here.close(), there.close()]);
  });

  const ask = async <N extends OperationName>(name: N, input: RequestOf<N>): Promise<OutputOf<N>> =>
    (await engines[0]?.call(name, input)) as OutputOf<N>;
  const askThere = async <N extends OperationName>(name: N, input: RequestOf<N>): Promise<OutputOf<N>> =>
    (await engines[1]?.call(name, input)) as OutputOf<N>;

  /** Some of everything that can belong to a root, and an edge to another one. */
  async function fill(): Promise<string> {
    const make = async (title: string, parentId?: string): Promise<string> => {
      const { items } = (await ask("manage_items", {
        operation: "create",
        items: [
          { title, tags: "a,b", properties: { deep: [1, { x: null }] }, ...(parentId ? { parentId } : {}) },
        ],
        ...ada,
      })) as CreateItemsOutput;
      return items[0]?.id ?? "";
    };
    const top = await make("Root “ü” \u{1f600}");
    const [one, two] = [await make("one", top), await make("two", top)];
    const other = await make("another root");
    await ask("manage_dependencies", {
      operation: "create",
      dependencies: [
        { fromItemId: one, toItemId: two },
        { fromItemId: other, toItemId: one, type: "RELATES_TO" },
      ],
    });
    await ask("manage_notes", {
      operation: "upsert",
      notes: [{ itemId: one, key: "plan", role: "work", body: "first" }],
    });
    await ask("manage_notes", {
      operation: "upsert",
      notes: [{ itemId: one, key: "plan", role: "work", body: "second" }],
    });
    await ask("manage_items", { operation: "update", items: [{ itemId: two, title: "two, renamed" }] });
    await ask("manage_project_config", { operation: "push", rootId: top, configYaml: "note_limits: {}\n" });
    await ask("manage_plan_documents", { operation: "stash", rootId: top, slug: "q3", body: "# Q3" });
    await ask("claim_item", {
      ...ada,
      requestId: randomUUID(),
      claims: [{ itemId: one, start: true }],
    });
    await ask("advance_item", { transitions: [{ itemId: one, trigger: "complete", ...ada }] });
    return top;
  }

  async function write(bench: Workbench): Promise<string[]> {
    const lines: string[] = [];
    await exportRoot(bench.deps, root, "0.0.0", (line) => lines.push(line));
    return lines;
  }
  const bundleOf = (lines: readonly string[]): Promise<Bundle> => readBundle(each(lines));
  const bring = async (lines: readonly string[]): Promise<BundleReport> =>
    importBundle(to.deps, await bundleOf(lines));

  it("comes back byte for byte, but for the edge whose other end is not there", async () => {
    const lines = await write(from);
    const tables = (await bundleOf(lines)).rows;
    expect(Object.fromEntries([...tables].map(([name, rows]) => [name, rows.length]))).toEqual({
      items: 3,
      item_state: 3,
      project_configs: 1,
      plan_documents: 1,
      notes: 1,
      note_versions: 1,
      item_versions: 1,
      dependencies: 2,
      attempts: 1,
      transitions: expect.any(Number) as number,
    });
    const report = await bring(lines);
    expect(report.tables["items"]).toEqual({ found: 3, imported: 3 });
    expect(report.tables["dependencies"]).toEqual({ found: 2, imported: 1 });
    const back = await write(to);
    const kept = lines.filter((line) => !line.includes("RELATES_TO"));
    expect(back.slice(0, -1)).toEqual(kept.slice(0, -1));
    expect(await to.drift()).toEqual([]);
  });

  it("changes nothing the second time, whatever has happened to it since", async () => {
    const lines = await write(from);
    await bring(lines);
    await sql`update items set title = 'changed there' where parent_id is not null and title = 'one'`.execute(
      there.db,
    );
    const before = await write(to);
    const again = await bring(lines);
    expect(Object.values(again.tables).every(({ imported }) => imported === 0)).toBe(true);
    expect(await write(to)).toEqual(before);
  });

  it("can be worked on where it came to: found by its words, offered, moved", async () => {
    const found = await askThere("query_items", { operation: "search", query: "renamed" });
    expect(JSON.stringify(found)).toContain("two, renamed");
    const { claims } = await askThere("claim_item", {
      ...ada,
      requestId: randomUUID(),
      claims: [{ selector: {}, start: true }],
    });
    expect(claims).toMatchObject([{ outcome: "success", item: { title: "two, renamed" } }]);
  });

  it("leaves a claim behind: its holder's heartbeats go elsewhere", async () => {
    await ask("claim_item", {
      ...ada,
      requestId: randomUUID(),
      claims: [{ selector: {}, start: true }],
    });
    const lines = await write(from);
    await sql`truncate items, item_state, attempts, transitions cascade`.execute(there.db);
    expect(await bring(lines)).toMatchObject({ claimsReleased: 1 });
    const held = await there.db
      .selectFrom("item_state")
      .select("item_id")
      .where("agent", "is not", null)
      .execute();
    expect(held).toEqual([]);
    const open = await there.db
      .selectFrom("attempts")
      .select("item_id")
      .where("ended_at", "is", null)
      .execute();
    expect(open).toEqual([]);
  });

  it("refuses a file that was cut off, was changed, or is of something else, and brings nothing of it", async () => {
    const lines = await write(from);
    const [head = "", ...rest] = lines;
    for (const bad of [
      lines.slice(0, -1),
      [head, ...rest.slice(1)],
      rest,
      [...lines.slice(0, 2), "{", ...lines.slice(2)],
      [head.replace('"format":1', '"format":2'), ...rest],
      [],
    ]) {
      await expect(bundleOf(bad)).rejects.toBeInstanceOf(UnfitBundle);
    }
    const strange = { rootId: root, rows: new Map([["api_tokens", [{ id: "x" }]]]) };
    await expect(importBundle(to.deps, strange)).rejects.toBeInstanceOf(UnfitBundle);
  });

  it("is a root, and nothing else", async () => {
    const child = await here.db
      .selectFrom("items")
      .select("id")
      .where("parent_id", "=", root)
      .executeTakeFirstOrThrow();
    await expect(exportRoot(from.deps, child.id, "0", () => {})).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
    await expect(exportRoot(from.deps, randomUUID(), "0", () => {})).rejects.toMatchObject({
      code: "RESOURCE_NOT_FOUND",
    });
  });
});
