/** The documented examples of `get_context`, `get_next_item` and `manage_project_config`. */
/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access -- an example says itself which fields it shows */
import { beforeEach, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine } from "../../support/engine.ts";
import { CONFIG, Desk, TEXT, TIME } from "./desk.ts";

describeEachDatabase("the examples of context", (database) => {
  let desk: Desk;
  let itemId: string;
  beforeEach(async () => {
    const engine = createTestEngine(database());
    desk = await Desk.open(engine, database());
    itemId = await desk.item("JWT Handler", {
      tags: "task-implementation",
      priority: "high",
      complexity: 2,
      summary: "Create wireframes and API contract",
    });
    return () => engine.close();
  });
  const context = (input: object) => desk.call("get_context", input);
  const next = (input: object) => desk.call("get_next_item", input);

  it.each(["item", undefined])("get_context: the gate of an item (mode %s)", async (mode) => {
    await desk.note(itemId, "task-scope", "queue");
    await desk.claim("agent-worker-42", { itemId });
    expect(await context({ mode, itemId })).toMatchObject({
      mode: "item",
      item: { id: itemId, title: "JWT Handler", role: "queue", tags: "task-implementation", depth: 1 },
      schema: [
        { key: "task-scope", role: "queue", required: true, exists: true, filled: true },
        { key: "done-criteria", role: "work", required: true, exists: false, filled: false },
      ],
      gateStatus: { phase: "queue", missing: [] },
      claimDetail: {
        claimedBy: "agent-worker-42",
        claimedAt: TIME,
        claimExpiresAt: TIME,
        originalClaimedAt: TIME,
        isExpired: false,
      },
    });
  });

  it("get_context: an item that can advance", async () => {
    await desk.note(itemId, "task-scope", "queue");
    expect((await context({ itemId })).gateStatus).toMatchObject({ canAdvance: true, missing: [] });
  });

  it("get_context: what a session goes on with", async () => {
    await desk.note(itemId, "task-scope", "queue");
    const since = "2025-01-01T09:00:00Z";
    const actor = { id: "agent-1", kind: "subagent" };
    await desk.call("advance_item", { itemId, trigger: "start", actor });
    const item = { id: itemId, title: "JWT Handler", role: "work", tags: "task-implementation" };
    const answer = await context({ mode: "session-resume", since, includeAncestors: true });
    expect(answer).toMatchObject({ mode: "session-resume", since: TIME });
    expect(answer.activeItems).toContainEqual(expect.objectContaining(item));
    expect(answer.recentTransitions).toContainEqual(
      expect.objectContaining({
        itemId,
        title: "JWT Handler",
        fromRole: "queue",
        toRole: "work",
        at: TIME,
        actorId: "agent-1",
      }),
    );
    expect(answer.stalledItems).toContainEqual(
      expect.objectContaining({ ...item, missingNotes: ["done-criteria"], guidanceKey: "done-criteria" }),
    );
  });

  it.each([{ mode: "health-check" }, {}])(
    "get_context: what is active, blocked and stalled %o",
    async (input) => {
      await desk.note(itemId, "task-scope", "queue");
      await desk.advance(itemId, "start");
      const held = await desk.item("Held");
      await desk.advance(held, "block");
      const answer = await context(input);
      expect(answer).toMatchObject({ mode: "health-check", claimSummary: { active: 0, expired: 0 } });
      const item = { id: itemId, title: "JWT Handler", role: "work" };
      expect(answer.activeItems).toContainEqual(expect.objectContaining(item));
      expect(answer.blockedItems).toContainEqual(
        expect.objectContaining({ id: held, title: "Held", role: "blocked" }),
      );
      expect(answer.stalledItems).toContainEqual(
        expect.objectContaining({ ...item, missingNotes: ["done-criteria"] }),
      );
    },
  );

  it.each([
    {},
    { tags: "task-implementation,feature-task", limit: 5 },
    { priority: "high", role: "queue" },
    { complexityMax: 3, orderBy: "priority" },
    { createdAfter: "2020-01-01T11:00:00Z", createdBefore: "2120-01-01T12:00:00Z" },
    { orderBy: "oldest" },
  ])("get_next_item: the best item for %o", async (filter) => {
    await desk.note(itemId, "task-scope", "queue");
    const { recommendations } = await next({ ...filter, limit: 5 });
    expect(recommendations).toContainEqual(
      expect.objectContaining({
        itemId,
        title: "JWT Handler",
        role: "queue",
        priority: "high",
        complexity: 2,
      }),
    );
  });

  it("get_next_item: with details", async () => {
    await desk.note(itemId, "task-scope", "queue");
    expect(await next({ parentId: desk.rootId, limit: 3, includeDetails: true })).toMatchObject({
      recommendations: [
        {
          itemId,
          title: "JWT Handler",
          role: "queue",
          priority: "high",
          complexity: 2,
          summary: "Create wireframes and API contract",
          tags: "task-implementation",
          parentId: desk.rootId,
        },
      ],
      total: 1,
    });
  });

  it("get_next_item: also what is claimed, without saying by whom", async () => {
    const other = await desk.item("Write unit tests", { complexity: 3 });
    await desk.claim("worker-agent-7", { itemId: other });
    const answer = await next({ parentId: desk.rootId, includeClaimed: true, limit: 5 });
    expect(answer).toMatchObject({ total: 2 });
    expect(answer.recommendations).toContainEqual(expect.objectContaining({ itemId, isClaimed: false }));
    expect(answer.recommendations).toContainEqual(
      expect.objectContaining({
        itemId: other,
        title: "Write unit tests",
        role: "queue",
        priority: "medium",
        complexity: 3,
        isClaimed: true,
      }),
    );
    expect(JSON.stringify(answer)).not.toContain("worker-agent-7");
  });

  it("manage_project_config: push, and read back with the relation of a fingerprint", async () => {
    const rootId = (await desk.call("manage_items", { operation: "create", items: [{ title: "Untyped" }] }))
      .items[0].id as string;
    const configYaml = `${CONFIG}\nactor_authentication:\n  enabled: true\n`;
    const pushed = await desk.call("manage_project_config", { operation: "push", rootId, configYaml });
    expect(pushed).toMatchObject({
      rootId,
      fingerprint: TEXT,
      updatedAt: TIME,
      warning: TEXT,
      ignoredSections: ["actor_authentication"],
    });
    const { fingerprint } = pushed as { fingerprint: string };
    await desk.call("manage_project_config", { operation: "push", rootId, configYaml: CONFIG });
    expect(await desk.call("manage_project_config", { operation: "get", rootId, fingerprint })).toMatchObject(
      {
        rootId,
        configYaml: CONFIG,
        fingerprint: TEXT,
        updatedAt: TIME,
        relation: "superseded",
      },
    );
  });
});
