/** What a pushed text changes, on every replica and at once; and what a broken one does not. */
import { beforeEach, expect, it } from "vitest";
import { createHash } from "node:crypto";
import { sql } from "kysely";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine, worker } from "../../support/engine.ts";
import { createItem, createItems, Project } from "./project.ts";
import { layer } from "../../unit/core/schemas/layers.ts";
import { followServerConfig } from "../../../services/engine/config/refresh-copies.ts";
import { createSchemaSource } from "../../../services/engine/config/schema-source.ts";
import type { SchemaAnswer } from "../../../services/contract/schema-answer.ts";

const PLANNED = `
work_item_schemas:
  task:
    default_traits: [deploys]
    notes:
      - {key: plan, role: queue, required: true, description: What to do, guidance: Steps, skill: planning, maxLength: 400}
      - {key: result, role: work, required: true}
traits:
  deploys:
    notes: [{key: approval, role: review, required: true}]
    resources: [{key: staging, ttlSeconds: 60}]
`;
const FREE = "work_item_schemas:\n  task: {lifecycle: manual, notes: []}\n";

describeEachDatabase("what a project's configuration changes", (database) => {
  let engine: TestEngine;
  let project: Project;

  beforeEach(async () => {
    engine = createTestEngine(database());
    project = await Project.create(engine);
    return () => engine.close();
  });

  const schemaOf = async (asked: object, on: TestEngine = engine): Promise<SchemaAnswer> =>
    (await on.call("query_items", { operation: "schema", ...asked })) as SchemaAnswer;

  /** As nobody can push it: an older release may have stored it, or somebody by hand. */
  async function storeUnreadable(text: string): Promise<void> {
    const fingerprint = createHash("sha256").update(text).digest("hex");
    await sql`update project_configs set config_yaml = ${text}, fingerprint = ${fingerprint},
      history = array[${fingerprint}] || history where root_id = ${project.rootId}`.execute(database().db);
  }

  it("the schema of an item and of a type is told in full, with where it comes from", async () => {
    const { fingerprint } = await project.push(PLANNED);
    const itemId = await project.item({ type: "task" });
    const schema = await schemaOf({ itemId });
    expect(schema).toMatchObject({
      type: "task",
      configFingerprint: fingerprint,
      configSource: "per-root",
      lifecycle: "auto",
      hasReviewPhase: true,
      traits: ["deploys"],
      resources: [{ key: "staging", mode: "exclusive", ttlSeconds: 60 }],
    });
    expect(schema.notes).toEqual([
      {
        key: "plan",
        role: "queue",
        required: true,
        description: "What to do",
        guidance: "Steps",
        skill: "planning",
        maxLength: 400,
      },
      { key: "result", role: "work", required: true, description: "" },
      { key: "approval", role: "review", required: true, description: "" },
    ]);
    expect(await schemaOf({ type: "task", rootId: project.rootId })).toEqual(schema);
  });

  it("a schema is asked for by one of item and type, and one that is not there is said so", async () => {
    await project.push(PLANNED);
    const itemId = await project.item({ type: "epic" });
    for (const asked of [{}, { itemId, type: "task" }, { itemId, rootId: project.rootId }])
      await expect(schemaOf(asked)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    for (const asked of [{ itemId }, { type: "task" }, { type: "epic", rootId: project.rootId }])
      await expect(schemaOf(asked)).rejects.toMatchObject({ code: "RESOURCE_NOT_FOUND" });
  });

  it("a push holds for every other replica from its commit on", async () => {
    const other = createTestEngine(database());
    const itemId = await project.item({ type: "task" });
    await project.push(PLANNED);
    expect((await schemaOf({ itemId }, other)).notes).toHaveLength(3);
    await project.on(other).push(FREE);
    expect(await schemaOf({ itemId })).toMatchObject({ lifecycle: "manual", notes: [] });
    await other.close();
  });

  it("an unreadable text leaves the last good one in force, and never opens a gate [B84]", async () => {
    await project.push(PLANNED);
    const itemId = await project.item({ type: "task" });
    expect((await schemaOf({ itemId })).notes).toHaveLength(3);
    await storeUnreadable("work_item_schemas: [");
    expect((await schemaOf({ itemId })).notes).toHaveLength(3);
    await storeUnreadable("work_item_schemas: {task: {notes: [{key: plan, role: wrk}]}}");
    expect((await schemaOf({ itemId })).notes).toHaveLength(3);
    await project.push(FREE);
    expect((await schemaOf({ itemId })).notes).toHaveLength(0);
  });

  it("a replica that never saw a good text refuses instead of going on without schemas [B84]", async () => {
    await project.push(PLANNED);
    const itemId = await project.item({ type: "task" });
    await storeUnreadable("work_item_schemas: [");
    const fresh = createTestEngine(database());
    await expect(schemaOf({ itemId }, fresh)).rejects.toMatchObject({
      code: "config_unavailable",
      kind: "transient",
      hint: expect.stringContaining("manage_project_config") as string,
    });
    await project.on(fresh).push(FREE);
    expect(await schemaOf({ itemId }, fresh)).toMatchObject({ lifecycle: "manual" });
    await fresh.close();
  });

  it("the server's own file counts below the project's text, and where there is none", async () => {
    const global = layer({
      work_item_schemas: {
        task: { lifecycle: "permanent" },
        chore: { notes: [{ key: "done", role: "work" }] },
      },
    });
    const schemas = createSchemaSource({ server: () => global, log: { warn: () => {} } });
    const server = createTestEngine(database(), { schemas });
    const itemId = await project.item({ type: "task" });
    expect(await schemaOf({ itemId }, server)).toMatchObject({
      configSource: "global",
      lifecycle: "permanent",
    });
    expect(await schemaOf({ type: "task" }, server)).toMatchObject({ configSource: "global" });
    await project.push(FREE);
    expect(await schemaOf({ itemId }, server)).toMatchObject({
      configSource: "per-root",
      lifecycle: "manual",
    });
    expect(await schemaOf({ type: "chore", rootId: project.rootId }, server)).toMatchObject({
      configSource: "global",
    });
    await server.close();
  });

  const copiesOf = (itemId: string) =>
    database()
      .db.selectFrom("item_state")
      .select(["start_gate_open", "resources"])
      .where("item_id", "=", itemId)
      .executeTakeFirstOrThrow();

  it("what offers are filtered by follows a push, for open items of this project only", async () => {
    const itemId = await project.item({ type: "task" });
    const elsewhere = await createItem(engine, { type: "task" });
    await project.push(PLANNED);
    expect(await copiesOf(itemId)).toEqual({
      start_gate_open: false,
      resources: [{ key: "staging", mode: "exclusive", capacity: 1 }],
    });
    expect(await copiesOf(elsewhere)).toEqual({ start_gate_open: true, resources: null });
    await project.push(FREE);
    expect(await copiesOf(itemId)).toEqual({ start_gate_open: true, resources: null });
  });

  it("items of all projects follow the server's own file, once for every change of it", async () => {
    const itemId = await project.item({ type: "chore" });
    const global = layer({
      work_item_schemas: { chore: { notes: [{ key: "plan", role: "queue", required: true }] } },
    });
    const schemas = createSchemaSource({ server: () => global, log: { warn: () => {} } });
    const { db } = database();
    expect(await followServerConfig({ db, schemas }, "one")).toBe(true);
    expect(await copiesOf(itemId)).toMatchObject({ start_gate_open: false });
    expect(await followServerConfig({ db, schemas }, "one")).toBe(false);
    expect(
      await followServerConfig({ db, schemas: createSchemaSource({ log: { warn: () => {} } }) }, null),
    ).toBe(true);
    expect(await copiesOf(itemId)).toMatchObject({ start_gate_open: true });
  });

  it("a note that is there keeps the start gate open when its schema comes", async () => {
    const itemId = await project.item({ type: "task" });
    await engine.call("manage_notes", {
      operation: "upsert",
      actor: worker("ada"),
      notes: [{ itemId, key: "plan", role: "queue", body: "first this" }],
    });
    await project.push(PLANNED);
    expect(await copiesOf(itemId)).toMatchObject({ start_gate_open: true });
  });

  it("an item that changes its type, its traits or its project is offered by its new schema", async () => {
    await project.push(PLANNED);
    const update = (itemId: string, change: object) =>
      engine.call("manage_items", { operation: "update", items: [{ itemId, ...change }] });
    const closed = {
      start_gate_open: false,
      resources: [{ key: "staging", mode: "exclusive", capacity: 1 }],
    };
    const free = { start_gate_open: true, resources: null };

    const itemId = await project.item({ type: "epic" });
    await update(itemId, { type: "task" });
    expect(await copiesOf(itemId)).toEqual(closed);
    await update(itemId, { type: null });
    expect(await copiesOf(itemId)).toEqual(free);
    await update(itemId, { traits: "deploys" });
    expect(await copiesOf(itemId)).toEqual({ ...closed, start_gate_open: true });

    const elsewhere = await createItem(engine, {});
    const moved = await createItem(engine, { type: "task", parentId: elsewhere });
    const below = await createItem(engine, { type: "task", parentId: moved });
    await update(moved, { parentId: project.rootId });
    expect([await copiesOf(moved), await copiesOf(below)]).toEqual([closed, closed]);
    await update(moved, { parentId: null });
    expect([await copiesOf(moved), await copiesOf(below)]).toEqual([free, free]);
  });

  it("a project that comes back from the trash has its configuration again", async () => {
    const { fingerprint } = await project.push(PLANNED);
    const itemId = await project.item({ type: "task" });
    await engine.call("manage_items", { operation: "delete", itemIds: [project.rootId], recursive: true });
    await expect(project.get()).rejects.toMatchObject({ code: "RESOURCE_NOT_FOUND" });
    await engine.call("manage_items", { operation: "restore", itemIds: [project.rootId] });
    expect(await project.get()).toMatchObject({ fingerprint, configYaml: PLANNED });
    expect(await copiesOf(itemId)).toMatchObject({ start_gate_open: false });
  });

  it("what a cancelled blocker means is the project's word when the edge is drawn, and stays", async () => {
    await project.push("on_cancelled: release\n");
    const [blocker, freed, held] = await Promise.all([project.item(), project.item(), project.item()]);
    const draw = (toItemId: string) =>
      engine.call("manage_dependencies", {
        operation: "create",
        dependencies: [{ fromItemId: blocker, toItemId }],
      });
    await draw(freed);
    await project.push("on_cancelled: hold\n");
    await draw(held);
    await engine.call("advance_item", { itemId: blocker, trigger: "cancel" });
    const blockersOf = async (itemId: string): Promise<unknown> =>
      (
        await database()
          .db.selectFrom("item_state")
          .select("blockers")
          .where("item_id", "=", itemId)
          .executeTakeFirstOrThrow()
      ).blockers;
    expect([await blockersOf(freed), await blockersOf(held)]).toEqual([0, 1]);
  });

  it("new items are told what is expected of them, and which traits there are", async () => {
    await project.push(PLANNED);
    const created = await createItems(engine, [
      { title: "one", type: "task", parentId: project.rootId },
      { title: "two", type: "epic", parentId: project.rootId },
    ]);
    expect(created.availableTraits).toEqual(["deploys"]);
    expect(created.items).toMatchObject([
      {
        schemaMatch: true,
        expectedNotes: [
          { key: "plan", role: "queue", required: true, exists: false },
          { key: "result", role: "work", required: true, exists: false },
          { key: "approval", role: "review", required: true, exists: false },
        ],
      },
      { schemaMatch: false, expectedNotes: [] },
    ]);
    expect(await copiesOf(created.items[0]?.id ?? "")).toEqual({
      start_gate_open: false,
      resources: [{ key: "staging", mode: "exclusive", capacity: 1 }],
    });
    const free = await createItems(engine, [{ title: "three" }]);
    expect(free).not.toHaveProperty("availableTraits");
  });
});
