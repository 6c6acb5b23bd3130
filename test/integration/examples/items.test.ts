/** The documented examples of `manage_items` and `query_items`: the same requests, at least the fields shown. */
/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access -- an example says itself which fields it shows */
import { randomUUID } from "node:crypto";
import { beforeEach, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine } from "../../support/engine.ts";
import { Desk, ID, NUMBER, TEXT, TIME } from "./desk.ts";

const NOBODY_IN_ANY_ROLE = { queue: 0, work: 0, review: 0, blocked: 0, terminal: 0 };

describeEachDatabase("the examples of manage_items", (database) => {
  let desk: Desk;
  beforeEach(async () => {
    const engine = createTestEngine(database());
    desk = await Desk.open(engine, database());
    return () => engine.close();
  });

  it("create: two children under a shared parent", async () => {
    const answer = await desk.call("manage_items", {
      operation: "create",
      parentId: desk.rootId,
      items: [
        { title: "Design API schema", priority: "high", tags: "task-implementation" },
        { title: "Write unit tests", priority: "medium" },
      ],
    });
    expect(answer).toMatchObject({
      items: [
        {
          id: ID,
          title: "Design API schema",
          depth: 1,
          role: "queue",
          priority: "high",
          requiresVerification: false,
          tags: "task-implementation",
          schemaMatch: true,
          expectedNotes: [
            { key: "task-scope", role: "queue", required: true, exists: false },
            { key: "done-criteria", role: "work", required: true, exists: false },
          ],
        },
        { title: "Write unit tests", schemaMatch: false, expectedNotes: [] },
      ],
      created: 2,
      failed: 0,
      availableTraits: ["needs-migration-review"],
    });
  });

  it("update: some fields of one item, and one that is not there", async () => {
    const itemId = await desk.item("Design API schema");
    const absent = randomUUID();
    const answer = await desk.call("manage_items", {
      operation: "update",
      items: [
        { itemId, priority: "high", complexity: 3 },
        { itemId: absent, priority: "high" },
      ],
    });
    expect(answer).toMatchObject({
      items: [{ id: itemId, modifiedAt: TIME, requiresVerification: false }],
      updated: 1,
      failed: 1,
      failures: [{ id: absent, error: TEXT }],
    });
  });

  it("update: no failures when nothing failed", async () => {
    const itemId = await desk.item("Design API schema");
    const items = [{ itemId, priority: "high" }];
    expect(await desk.call("manage_items", { operation: "update", items })).not.toHaveProperty("failures");
  });

  it("delete: an item with all that is below it", async () => {
    const itemId = await desk.item("Auth Feature");
    for (let n = 0; n < 4; n += 1) await desk.item(`Task ${n}`, { parentId: itemId });
    const answer = await desk.call("manage_items", {
      operation: "delete",
      itemIds: [itemId],
      recursive: true,
    });
    expect(answer).toMatchObject({ ids: [itemId], deleted: 5, failed: 0, descendantsDeleted: 4 });
  });
});

describeEachDatabase("the examples of query_items", (database) => {
  let desk: Desk;
  let feature: string;
  let login: string;
  beforeEach(async () => {
    const engine = createTestEngine(database());
    desk = await Desk.open(engine, database());
    feature = await desk.item("Auth Feature", {
      priority: "high",
      tags: "backend",
      type: "feature-implementation",
      traits: "needs-migration-review",
    });
    login = await desk.item("Implement OAuth flow for login", { parentId: feature, priority: "high" });
    return () => engine.close();
  });
  const query = (input: object) => desk.call("query_items", input);

  it("schema: every note in full", async () => {
    expect(await query({ operation: "schema", itemId: feature })).toMatchObject({
      type: "feature-implementation",
      configFingerprint: TEXT,
      configSource: "per-root",
      notes: [
        {
          key: "feature-summary",
          role: "queue",
          required: true,
          description: "What",
          guidance: "Say why",
          skill: "spec-quality",
          maxLength: 4000,
        },
        { key: "implementation-notes", role: "work", required: true, description: "How" },
        { key: "migration" },
      ],
    });
  });

  it("get: one item with its ancestors", async () => {
    expect(await query({ operation: "get", itemId: login, includeAncestors: true })).toMatchObject({
      id: login,
      title: "Implement OAuth flow for login",
      ancestors: [
        { id: desk.rootId, title: "Q3 Platform Project" },
        { id: feature, title: "Auth Feature" },
      ],
    });
  });

  it.each([{}, { scope: true }])("search: ranked hits with snippets %o", async ({ scope }) => {
    const within = scope === true ? { scope: { ancestorId: feature } } : {};
    const answer = await query({
      operation: "search",
      query: "OAuth flow",
      limit: 10,
      explain: true,
      ...within,
    });
    expect(answer).toMatchObject({
      hits: [
        {
          kind: "item",
          itemId: login,
          field: "title",
          snippet: expect.stringContaining("<mark>OAuth</mark> <mark>flow</mark>") as string,
          score: NUMBER,
          matchedIn: expect.arrayContaining(["text"]) as string[],
          explain: { textRank: NUMBER, rrfK: 60 },
        },
      ],
      totalHits: 1,
      nextOffset: null,
      truncated: false,
    });
  });

  it("search: a list by role and priority", async () => {
    await desk.advance(login, "start");
    const answer = await query({ operation: "search", role: "work", priority: "high", limit: 20, offset: 0 });
    expect(answer).toMatchObject({
      items: [
        {
          id: login,
          parentId: feature,
          title: "Implement OAuth flow for login",
          role: "work",
          priority: "high",
          depth: 2,
        },
      ],
      total: 1,
      returned: 1,
      limit: 20,
      offset: 0,
    });
  });

  it("search: whether each is claimed, but never by whom", async () => {
    await desk.claim("worker-agent-7", { itemId: login });
    const answer = await query({ operation: "search", claimStatus: "claimed" });
    expect(answer).toMatchObject({
      items: [{ id: login, title: TEXT, role: "queue", priority: "high", depth: 2, isClaimed: true }],
      total: 1,
      returned: 1,
      limit: 50,
      offset: 0,
    });
    expect(JSON.stringify(answer)).not.toContain("worker-agent-7");
  });

  it("overview: an item and its children", async () => {
    expect(await query({ operation: "overview", itemId: feature })).toMatchObject({
      item: { id: feature, title: "Auth Feature", role: "queue", priority: "high", depth: 1 },
      childCounts: { ...NOBODY_IN_ANY_ROLE, queue: 1 },
      children: [
        {
          id: login,
          parentId: feature,
          title: TEXT,
          role: "queue",
          priority: "high",
          depth: 2,
          childCounts: NOBODY_IN_ANY_ROLE,
        },
      ],
    });
  });

  it("overview: the roots with their children", async () => {
    const { items, ...page } = await query({ operation: "overview", includeChildren: true });
    expect(page).toMatchObject({ total: NUMBER, truncated: false, offset: 0 });
    expect(items[0]).toMatchObject({
      id: desk.rootId,
      title: "Q3 Platform Project",
      role: "queue",
      priority: "medium",
      depth: 0,
      type: "project",
      childCounts: { ...NOBODY_IN_ANY_ROLE, queue: 1 },
      claimSummary: { active: 0, expired: 0, unclaimed: 1 },
      children: [
        {
          id: feature,
          parentId: desk.rootId,
          tags: "backend",
          type: "feature-implementation",
          traits: ["needs-migration-review"],
          childCounts: { ...NOBODY_IN_ANY_ROLE, queue: 1 },
        },
      ],
    });
  });

  it("overview: the children of an anchor, counting all below each", async () => {
    await desk.item("Deep", { parentId: login });
    expect(await query({ operation: "overview", anchorId: desk.rootId })).toMatchObject({
      anchor: { id: desk.rootId, title: "Q3 Platform Project" },
      items: [
        {
          id: feature,
          parentId: desk.rootId,
          title: "Auth Feature",
          role: "queue",
          priority: "high",
          depth: 1,
          tags: "backend",
          type: "feature-implementation",
          traits: ["needs-migration-review"],
          childCounts: { ...NOBODY_IN_ANY_ROLE, queue: 2 },
        },
      ],
      total: 1,
      truncated: false,
      offset: 0,
    });
  });
});
