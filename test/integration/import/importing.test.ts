/** A database of task-orchestrator that is brought over: nothing of it is lost, and what stays away is said. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { createLocalCoordination } from "../../../services/coordination/local/local-coordination.ts";
import { createSchemaSource } from "../../../services/engine/config/schema-source.ts";
import { importGraph } from "../../../services/engine/import/import-graph.ts";
import type { ImportReport } from "../../../services/engine/import/import-report.ts";
import { openTaskOrchestratorFile } from "../../../services/engine/import/task-orchestrator-file.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { idOf, TaskOrchestratorDatabase } from "../../support/task-orchestrator-file.ts";
import { temporaryFolder, type TemporaryFolder } from "../../support/temporary-folder.ts";
import { DEFAULT_SETTINGS } from "../../../services/engine/deps.ts";
import { agent, granted, refused } from "../claims/calls.ts";
import { disagreements } from "../history/derived.ts";
import { fillAtRandom } from "./fill-at-random.ts";

const QUIET = { info: () => {}, warn: () => {}, error: () => {} };

describeEachDatabase("an import", (database) => {
  let folder: TemporaryFolder;
  let file: TaskOrchestratorDatabase;
  let engine: TestEngine;
  const coordination = createLocalCoordination();

  beforeAll(() => {
    engine = createTestEngine(database(), { coordination });
  });
  afterAll(async () => {
    await engine.close();
    await coordination.close();
  });
  beforeEach(async () => {
    await sql`truncate items cascade`.execute(database().db);
    await sql`truncate transitions, attempts, events`.execute(database().db);
    folder = temporaryFolder();
    file = new TaskOrchestratorDatabase(join(folder.path, "tasks.db"));
  });
  afterEach(() => {
    file.close();
    folder[Symbol.dispose]();
  });

  async function bring(path = file.path): Promise<ImportReport> {
    file.save();
    const source = openTaskOrchestratorFile(path);
    try {
      const schemas = createSchemaSource({ log: QUIET });
      return await importGraph(
        { db: database().db, coordination, schemas, settings: DEFAULT_SETTINGS },
        source,
      );
    } finally {
      source.close();
    }
  }

  const read = async (table: string): Promise<Record<string, unknown>[]> =>
    (
      await sql<Record<string, unknown>>`select to_jsonb(t) as row from ${sql.table(table)} t`.execute(
        database().db,
      )
    ).rows.map(({ row }) => row as Record<string, unknown>);
  const reasons = (report: ImportReport): string[] =>
    report.leftOut.map(({ table, reason }) => `${table}: ${reason}`);

  // A seed that fails is in the title of the failing expectation; pass it to look again.
  it.each([1, 2, 3])("brings everything over, field by field (seed %i)", async (seed) => {
    fillAtRandom(file, seed);
    const report = await bring();
    expect(report.leftOut).toEqual([]);
    const reopened = new Set<unknown>(
      report.changed.flatMap(({ id, reason }) => (reason.includes("closed with open items below") ? id : [])),
    );
    const stored = new Map((await read("items")).map((row) => [row["id"], row]));
    const states = new Map((await read("item_state")).map((row) => [row["item_id"], row]));
    const items = file.rows("work_items");
    expect(stored.size).toBe(items.length);
    for (const item of items) {
      const properties =
        item["properties"] === null
          ? {}
          : (JSON.parse(item["properties"] as string) as Record<string, unknown>);
      const { traits = [], ...rest } = properties;
      expect(stored.get(item["id"])).toMatchObject({
        ...pick(item, [
          "id",
          "parent_id",
          "title",
          "description",
          "summary",
          "type",
          "metadata",
          "priority",
          "complexity",
          "depth",
          "version",
          "root_id",
        ]),
        requires_verification: item["requires_verification"] === 1,
        tags: item["tags"] === null ? [] : (item["tags"] as string).split(","),
        traits: typeof traits === "string" ? traits.split(",") : traits,
        properties: Object.keys(rest).length === 0 ? null : rest,
        created_at: same(item["created_at"]),
        modified_at: same(item["modified_at"]),
      });
      expect(states.get(item["id"])).toMatchObject({
        ...(reopened.has(item["id"])
          ? { role: "queue", outcome: null, status_label: null }
          : pick(item, ["role", "previous_role", "status_label"])),
        role_changed_at: same(item["role_changed_at"]),
        agent: null,
        available_at: null,
      });
    }
    const notes = new Map((await read("notes")).map((row) => [row["id"], row]));
    for (const row of file.rows("notes")) {
      expect(notes.get(row["id"])).toMatchObject({
        item_id: row["work_item_id"],
        ...pick(row, ["key", "role", "body"]),
        created_at: same(row["created_at"]),
        modified_at: same(row["modified_at"]),
        agent: row["actor_id"],
      });
    }
    const edges = new Map((await read("dependencies")).map((row) => [row["id"], row]));
    for (const row of file.rows("dependencies")) {
      const swapped = row["type"] === "IS_BLOCKED_BY";
      expect(edges.get(row["id"])).toMatchObject({
        from_item: row[swapped ? "to_item_id" : "from_item_id"],
        to_item: row[swapped ? "from_item_id" : "to_item_id"],
        type: swapped ? "BLOCKS" : row["type"],
        unblock_at: row["unblock_at"],
        on_cancelled: row["type"] === "RELATES_TO" ? null : "release",
      });
    }
    const key = (row: Record<string, unknown>, [item, at]: [string, string]): string =>
      JSON.stringify([
        row[item],
        same(row[at]),
        row["from_role"],
        row["to_role"],
        row["trigger"],
        row["summary"],
      ]);
    const brought = (await read("transitions")).filter((row) => row["trigger"] !== "import");
    expect(brought.map((row) => key(row, ["item_id", "at"])).toSorted()).toEqual(
      file
        .rows("role_transitions")
        .map((row) => key(row, ["item_id", "transitioned_at"]))
        .toSorted(),
    );
    expect((await read("project_configs")).map((row) => row["config_yaml"])).toEqual(
      file.rows("project_config").map((row) => row["config_yaml"]),
    );
    expect((await read("plan_documents")).map((row) => [row["id"], row["body"], row["status"]])).toEqual(
      file.rows("plan_documents").map((row) => [row["id"], row["body"], row["status"]]),
    );
    // Counters, copies, claims: as the rules derive them, though the source itself has open items below closed ones.
    expect(reopened.size).toBeGreaterThan(0);
    expect(await disagreements(database().db)).toEqual([]);
  });

  it("changes nothing when the same file is imported again", async () => {
    fillAtRandom(file, 4);
    const first = await bring();
    const tables = [
      "items",
      "item_state",
      "notes",
      "dependencies",
      "transitions",
      "project_configs",
      "plan_documents",
      "attempts",
    ];
    const before = await Promise.all(tables.map(read));
    const second = await bring();
    expect(await Promise.all(tables.map(read))).toEqual(before);
    for (const [table, tally] of Object.entries(second.tables)) {
      expect({ table, ...tally }).toMatchObject({ imported: 0, alreadyThere: first.tables[table]?.imported });
    }
  });

  it("offers what is ready and nothing else, and lets a cancelled blocker go", async () => {
    const root = file.item({ title: "root" });
    const below = { parent_id: idOf(root), depth: 1 };
    const first = file.item({ ...below, title: "first" });
    const second = file.item({ ...below, title: "second" });
    const cancelled = file.item({
      ...below,
      title: "cancelled",
      role: "terminal",
      status_label: "cancelled",
    });
    file.move(cancelled, { to_role: "terminal", trigger: "cancel" });
    const free = file.item({ ...below, title: "free" });
    file.edge(first, second);
    file.edge(cancelled, free);
    await bring();
    const offered = [
      (await granted(engine, agent("a"), { selector: {} })).itemId,
      (await granted(engine, agent("b"), { selector: {} })).itemId,
    ];
    expect(offered.toSorted()).toEqual([first, free].toSorted());
    expect(await refused(engine, agent("c"), { selector: {} })).toMatchObject({ outcome: "none_eligible" });
  });

  it("keeps the gates of a project closed until their notes are there", async () => {
    const root = file.item({ title: "root" });
    const gated = file.item({ parent_id: idOf(root), depth: 1, type: "feature" });
    file.config(
      root,
      "work_item_schemas:\n  feature:\n    notes:\n      - key: plan\n        role: queue\n        required: true\n        description: The plan\n",
    );
    await bring();
    const gate = async (): Promise<unknown> =>
      (await read("item_state")).find((row) => row["item_id"] === gated)?.["start_gate_open"];
    expect(await gate()).toBe(false);
  });

  it("releases claims, and keeps who had them", async () => {
    const held = file.item({
      role: "work",
      claimed_by: "ann",
      claimed_at: "2026-01-31 09:00:00",
      claim_expires_at: "2099-01-31 09:00:00",
      original_claimed_at: "2026-01-31 09:00:00",
    });
    const report = await bring();
    expect(report.claimsReleased).toBe(1);
    expect(await read("attempts")).toMatchObject([
      {
        item_id: held,
        agent: "ann",
        fence: 1,
        end_reason: "released",
        claimed_at: same("2026-01-31 09:00:00"),
      },
    ]);
    expect((await granted(engine, agent("bob"), { itemId: held })).fence).toBeGreaterThan(1);
  });

  it("stores no proof, and reads the old words for what became of one", async () => {
    const id = file.item();
    file.note(id, {
      body: "text",
      actor_id: "ann",
      actor_kind: "subagent",
      actor_parent: "boss",
      actor_proof: "secret.token",
      verification_status: "failed",
      verification_verifier: "jwks",
    });
    await bring();
    const [note] = await read("notes");
    expect(JSON.stringify(note)).not.toContain("secret.token");
    expect(note).toMatchObject({
      agent: "ann",
      actor: { id: "ann", kind: "subagent", parent: "boss" },
      verification: {
        status: "rejected",
        verifier: "jwks",
        proof: { sha256: createHash("sha256").update("secret.token").digest("hex") },
      },
    });
  });

  it("says what it left out and why, and what it changed", async () => {
    const root = file.item({ title: "root", tags: "one, two,Three" });
    const bad = file.item({ title: " ", parent_id: idOf(root) });
    const below = file.item({ parent_id: idOf(bad) });
    file.note(below, { key: "lost" });
    const orphan = file.item({ parent_id: idOf("11111111-1111-4111-8111-111111111111") });
    const round = "22222222-2222-4222-8222-222222222222";
    file.item({ id: idOf(round), parent_id: idOf(round) });
    file.item({ priority: "urgent" });
    file.item({ complexity: 11 });
    file.item({ created_at: "yesterday" });
    file.item({ properties: "{broken" });
    file.note(root, { key: "long", body: "x".repeat(65_537) });
    file.note(root, { key: "nul", body: "a\0b" });
    file.note("33333333-3333-4333-8333-333333333333", { key: "nobody's" });
    file.move(root, { to_role: "done" });
    const [a, b, c] = [file.item({ title: "a" }), file.item({ title: "b" }), file.item({ title: "c" })];
    file.edge(a, b, { type: "IS_BLOCKED_BY", created_at: "2026-01-01 00:00:01" });
    file.edge(b, a, { created_at: "2026-01-01 00:00:02" });
    file.edge(a, c, { created_at: "2026-01-01 00:00:03" });
    const closing = file.edge(c, b, { created_at: "2026-01-01 00:00:04" });
    file.edge(a, a);
    file.edge(a, orphan);
    file.edge(a, b, { type: "BLOCKS", unblock_at: "soon" });
    file.config(root, "work_item_schemas: [");
    file.plan(b, { adopted_by_item_id: null });
    file.lease(a, "staging-db");
    const report = await bring();
    const told = reasons(report).join("\n");
    for (const reason of [
      "work_items: title is blank",
      `work_items: its parent ${bad} was left out`,
      "work_items: its parent does not exist",
      "work_items: its ancestors do not begin at a root",
      'work_items: priority is "urgent"',
      "work_items: complexity is 11",
      'work_items: created_at is "yesterday"',
      "work_items: properties is no JSON",
      `notes: 1 row: of the item ${below}, which was left out`,
      "notes: body has 65537 bytes",
      "notes: body has a NUL character",
      "notes: its item does not exist",
      'role_transitions: to_role is "done"',
      "dependencies: another edge says the same",
      "dependencies: it closes a cycle",
      "dependencies: both of its ends are the same item",
      `dependencies: its end ${orphan} does not exist`,
      'dependencies: unblock_at is "soon"',
      "project_config: config_yaml cannot be read",
      "resource_leases: 1 row: leases end with the claims",
    ]) {
      expect(told).toContain(reason);
    }
    expect(report.leftOut.find(({ reason }) => reason.includes("cycle"))?.id).toBe(closing);
    const changes = report.changed.map(({ reason }) => reason).join("\n");
    expect(changes).toContain('"one, two,Three" was written without its spaces');
    expect(changes).toContain('"Three" is none and was left out');
    expect(changes).toContain("IS_BLOCKED_BY became BLOCKS");
    const stored = (await read("items")).find((row) => row["id"] === root);
    expect(stored?.["tags"]).toEqual(["one", "two"]);
    for (const [table, { found, imported, alreadyThere, leftOut }] of Object.entries(report.tables))
      expect([table, imported + alreadyThere + leftOut]).toEqual([table, found]);
    expect(await disagreements(database().db)).toEqual([]);
  });

  it("opens what is closed above open items, says so, and tells each project in one event", async () => {
    const root = file.item({ title: "root", role: "terminal", status_label: "done" });
    const middle = file.item({ parent_id: idOf(root), role: "terminal", status_label: "done" });
    const open = file.item({ parent_id: idOf(middle), role: "work" });
    const other = file.item({ title: "other", role: "terminal", status_label: "done" });
    const report = await bring();
    expect(
      report.changed
        .filter(({ reason }) => reason.includes("closed with open items below"))
        .map(({ id }) => id),
    ).toEqual([root, middle].toSorted());
    const roles = new Map((await read("item_state")).map((row) => [row["item_id"], row["role"]]));
    expect([root, middle, open, other].map((id) => roles.get(id))).toEqual([
      "queue",
      "queue",
      "work",
      "terminal",
    ]);
    expect(await disagreements(database().db)).toEqual([]);
    const told = (await read("events")).map(({ type, item_id, data }) => ({ type, item_id, data }));
    expect(told).toHaveLength(2);
    expect(told).toContainEqual({ type: "project.imported", item_id: root, data: { items: 3 } });
    await bring();
    expect(await read("events")).toHaveLength(2);
  });

  it("goes on where a run was cut off", async () => {
    fillAtRandom(file, 5);
    file.save();
    const source = openTaskOrchestratorFile(file.path);
    const schemas = createSchemaSource({ log: QUIET });
    const deps = { db: database().db, coordination, schemas, settings: DEFAULT_SETTINGS };
    // The edges cannot be read any more: everything before them is there, and nobody is offered any of it.
    const cut = {
      ...source,
      dependencies: () => {
        throw new Error("cut off");
      },
    };
    await expect(importGraph(deps, cut)).rejects.toThrow("cut off");
    source.close();
    expect(await refused(engine, agent("early"), { selector: {} })).toMatchObject({
      outcome: "none_eligible",
    });
    const report = await bring();
    expect(report.tables["dependencies"]).toMatchObject({ imported: report.tables["dependencies"]?.found });
    expect(await disagreements(database().db)).toEqual([]);
    expect((await read("item_state")).filter((row) => row["available_at"] !== null)).toEqual([]);
  });

  it("refuses a database of another version by its name, and what is no database of it at all", () => {
    const other = new TaskOrchestratorDatabase(join(folder.path, "other.db"), "12");
    other.save();
    other.close();
    expect(() => openTaskOrchestratorFile(other.path)).toThrow(
      /version 12 \(plan documents\); those of version 16/,
    );
    expect(() => openTaskOrchestratorFile(join(folder.path, "none.db"))).toThrow(/There is no file/);
    expect(() => openTaskOrchestratorFile(import.meta.filename)).toThrow(/no SQLite database/);
  });
});

/** The same instant, as the database writes it. */
function same(value: unknown): unknown {
  const text = String(value).replace(" ", "T");
  const iso = /[Z+]/.test(text.slice(10)) ? text : `${text}Z`;
  return expect.toSatisfy((other: unknown) => Date.parse(String(other)) === Date.parse(iso)) as unknown;
}

function pick(row: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.map((key) => [key, row[key]]));
}
