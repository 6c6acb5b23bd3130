/** The documented examples of `manage_notes` and `query_notes`. */
/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access -- an example says itself which fields it shows */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine } from "../../support/engine.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { Desk, ID, NUMBER, TIME } from "./desk.ts";

describeEachDatabase("the examples of notes", (database) => {
  let desk: Desk;
  let itemId: string;
  beforeEach(async () => {
    const engine = createTestEngine(database());
    desk = await Desk.open(engine, database());
    itemId = await desk.item("JWT Handler", { type: "feature-implementation" });
    return () => engine.close();
  });

  it("manage_notes: a note that a start asks for", async () => {
    const notes = [
      {
        itemId,
        key: "feature-summary",
        role: "queue",
        body: "The handler must validate JWT signatures and return 401 on failure.",
      },
    ];
    expect(await desk.call("manage_notes", { operation: "upsert", notes })).toMatchObject({
      notes: [{ id: ID, itemId, key: "feature-summary", role: "queue" }],
      upserted: 1,
      failed: 0,
      itemContext: {
        [itemId]: { guidancePointer: null, noteProgress: { filled: 1, remaining: 0, total: 1 } },
      },
    });
  });

  it("manage_notes: the guidance of what is to be written next", async () => {
    const answer = await desk.note(itemId, "implementation-notes", "work");
    expect(answer.itemContext[itemId]).toMatchObject({
      guidancePointer: "Say why",
      skillPointer: "spec-quality",
      noteProgress: { filled: 0, remaining: 1, total: 1 },
    });
  });

  it("manage_notes: a body from a file", async () => {
    using folder = temporaryFolder();
    mkdirSync(join(folder.path, "logs"));
    writeFileSync(join(folder.path, "logs/test-run.txt"), "all green\n");
    const engine = createTestEngine(database(), { settings: { filesDir: folder.path } });
    const answer = await engine.call("manage_notes", {
      operation: "upsert",
      notes: [{ itemId, key: "implementation-notes", role: "work", bodyFromFile: "logs/test-run.txt" }],
    });
    await engine.close();
    expect(answer).toMatchObject({ notes: [{ key: "implementation-notes" }], upserted: 1 });
  });

  it("manage_notes: one that is too long, where that is refused", async () => {
    await desk.call("manage_project_config", {
      operation: "push",
      rootId: desk.rootId,
      configYaml:
        "note_limits: {mode: reject}\nwork_item_schemas:\n  feature-implementation:\n    notes:\n      - {key: feature-summary, role: queue, maxLength: 5}\n",
    });
    expect(await desk.note(itemId, "feature-summary", "queue", "too long")).toMatchObject({
      upserted: 0,
      failed: 1,
      failures: [{ code: "NOTE_BODY_TOO_LONG", key: "feature-summary", maxLength: 5, actualLength: 8 }],
    });
  });

  it("manage_notes: all notes of an item go", async () => {
    await desk.note(itemId, "feature-summary", "queue");
    const answer = await desk.call("manage_notes", { operation: "delete", itemId });
    expect(answer).toMatchObject({ deleted: 1, notFound: 0, failed: 0 });
  });

  it("query_notes: the notes of a phase, without their bodies", async () => {
    await desk.note(itemId, "feature-summary", "queue");
    const answer = await desk.call("query_notes", { operation: "list", itemId, role: "queue" });
    expect(answer).toMatchObject({
      notes: [
        { id: ID, key: "feature-summary", role: "queue", bodyLength: 29, createdAt: TIME, modifiedAt: TIME },
      ],
      total: 1,
    });
    expect(answer.notes[0]).not.toHaveProperty("body");
  });

  it("query_notes: notes by key, with their bodies", async () => {
    await desk.note(itemId, "feature-summary", "queue");
    const answer = await desk.call("query_notes", {
      operation: "list",
      itemId,
      keys: ["feature-summary"],
      includeBody: true,
    });
    expect(answer.notes).toMatchObject([{ key: "feature-summary", body: "The handler validates tokens." }]);
  });

  it.each([false, true])("query_notes: search in all bodies, or below an item (%s)", async (scoped) => {
    await desk.note(itemId, "implementation-notes", "work", "The authentication token is stored in memory.");
    const scope = scoped ? { scope: { ancestorId: desk.rootId } } : {};
    const answer = await desk.call("query_notes", {
      operation: "search",
      query: "authentication token",
      limit: 10,
      ...scope,
    });
    expect(answer).toMatchObject({
      hits: [
        {
          kind: "note",
          itemId,
          noteKey: "implementation-notes",
          field: "body",
          snippet: expect.stringContaining("<mark>authentication</mark> <mark>token</mark>") as string,
          score: NUMBER,
          matchedIn: expect.arrayContaining(["text"]) as string[],
        },
      ],
      totalHits: 1,
      nextOffset: null,
      truncated: false,
    });
  });
});
