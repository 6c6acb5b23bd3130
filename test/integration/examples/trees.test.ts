/** The documented examples of `create_work_tree`, `complete_tree` and the documents that trees are made from. */
/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access -- an example says itself which fields it shows */
import { beforeEach, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine } from "../../support/engine.ts";
import { Desk, ID, TEXT, TIME } from "./desk.ts";

describeEachDatabase("the examples of trees", (database) => {
  let desk: Desk;
  beforeEach(async () => {
    const engine = createTestEngine(database());
    desk = await Desk.open(engine, database());
    return () => engine.close();
  });

  it("create_work_tree: a feature, its tasks and their order", async () => {
    const answer = await desk.call("create_work_tree", {
      root: { title: "Authentication Feature", priority: "high", tags: "task-implementation" },
      parentId: desk.rootId,
      children: [
        { ref: "t1", title: "Design login flow", priority: "high" },
        { ref: "t2", title: "Implement JWT handler", priority: "high" },
        { ref: "t3", title: "Write integration tests", priority: "medium" },
      ],
      deps: [
        { from: "t1", to: "t2", type: "BLOCKS", unblockAt: "work" },
        { from: "t2", to: "t3", type: "BLOCKS" },
      ],
      createNotes: false,
    });
    const child = { id: ID, role: "queue", depth: 2, schemaMatch: false, expectedNotes: [] };
    expect(answer).toMatchObject({
      root: {
        id: ID,
        title: "Authentication Feature",
        role: "queue",
        depth: 1,
        tags: "task-implementation",
        schemaMatch: true,
        expectedNotes: [
          { key: "task-scope", role: "queue", required: true, exists: false },
          { key: "done-criteria" },
        ],
      },
      children: [
        { ref: "t1", title: "Design login flow", ...child },
        { ref: "t2", title: "Implement JWT handler", ...child },
        { ref: "t3", title: "Write integration tests", ...child },
      ],
      dependencies: [
        { id: ID, fromRef: "t1", toRef: "t2", type: "BLOCKS", unblockAt: "work" },
        { id: ID, fromRef: "t2", toRef: "t3", type: "BLOCKS" },
      ],
      notes: [],
    });
    expect(answer.dependencies[1]).not.toHaveProperty("unblockAt");
  });

  it("create_work_tree: blank notes of a schema", async () => {
    const answer = await desk.call("create_work_tree", {
      root: { id: desk.rootId },
      children: [{ ref: "t1", title: "Task 1", tags: "task-implementation" }],
      createNotes: true,
    });
    expect(answer.notes).toMatchObject([
      { itemRef: "t1", key: "task-scope", role: "queue", id: ID },
      { itemRef: "t1", key: "done-criteria", role: "work", id: ID },
    ]);
  });

  it("create_work_tree: notes that are written in the call", async () => {
    const answer = await desk.call("create_work_tree", {
      root: { title: "Feature X" },
      children: [{ ref: "t1", title: "Task 1" }],
      notes: [
        { itemRef: "root", key: "feature-summary", role: "queue", body: "Full plan..." },
        { itemRef: "t1", key: "task-scope", role: "queue", body: "Build the thing" },
      ],
    });
    expect(answer.notes).toMatchObject([
      { itemRef: "root", key: "feature-summary", role: "queue", id: ID },
      { itemRef: "t1", key: "task-scope", role: "queue", id: ID },
    ]);
  });

  it("create_work_tree: notes that are cut out of a plan", async () => {
    const body = "# My plan\n\n## Overview\nWhat it is.\n\n## Task 1\nBuild it.\n";
    await desk.call("manage_plan_documents", {
      operation: "stash",
      rootId: desk.rootId,
      slug: "my-plan",
      body,
    });
    const answer = await desk.call("create_work_tree", {
      root: {
        title: "Feature X",
        noteAnchors: [{ noteKey: "feature-summary", role: "queue", anchor: "overview" }],
      },
      parentId: desk.rootId,
      docRef: { slug: "my-plan" },
      children: [
        {
          ref: "t1",
          title: "Task 1",
          noteAnchors: [{ noteKey: "task-scope", role: "queue", anchor: "task-1" }],
        },
      ],
    });
    expect(answer).toMatchObject({ root: { id: ID }, children: [{ ref: "t1", id: ID }] });
    const read = { operation: "list", itemId: answer.children[0].id, includeBody: true };
    expect((await desk.call("query_notes", read)).notes).toMatchObject([
      { key: "task-scope", role: "queue", body: expect.stringContaining("Build it.") as string },
    ]);
  });

  it("complete_tree: what is done, what its gate holds up, and what waits for that", async () => {
    const rootId = await desk.item("Authentication Feature");
    const below = { parentId: rootId };
    const first = await desk.item("Design login flow", below);
    const second = await desk.item("Implement handler", { ...below, tags: "task-implementation" });
    const third = await desk.item("Write tests", below);
    await desk.blocks(first, second);
    await desk.blocks(second, third);
    const answer = await desk.call("complete_tree", { rootId, trigger: "complete", includeRoot: false });
    expect(answer.results).toHaveLength(3);
    expect(answer.results).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          itemId: first,
          title: "Design login flow",
          applied: true,
          trigger: "complete",
          statusLabel: "done",
        }),
        expect.objectContaining({
          itemId: second,
          title: "Implement handler",
          applied: false,
          gateErrors: [TEXT, TEXT],
        }),
        expect.objectContaining({
          itemId: third,
          title: "Write tests",
          applied: false,
          skipped: true,
          skippedReason: "dependency gate failed",
        }),
      ]),
    );
    expect(answer.summary).toMatchObject({ total: 3, completed: 1, skipped: 1, gateFailures: 1 });
  });

  it("manage_plan_documents: stash and list", async () => {
    const stashed = {
      id: ID,
      rootId: desk.rootId,
      slug: "auth-redesign",
      contentHash: TEXT,
      status: "pending",
      createdAt: TIME,
      updatedAt: TIME,
    };
    const call = { operation: "stash", rootId: desk.rootId, slug: "auth-redesign" };
    const answer = await desk.call("manage_plan_documents", {
      ...call,
      body: "# Auth Redesign\n\n## Goals\n...",
    });
    expect(answer).toMatchObject(stashed);
    expect(answer).not.toHaveProperty("body");
    const listed = await desk.call("manage_plan_documents", { operation: "list", rootId: desk.rootId });
    expect(listed).toMatchObject({ rootId: desk.rootId, plans: [stashed] });
  });
});
