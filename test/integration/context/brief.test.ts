/** The brief: everything needed to work an item, in one bounded answer. */
import { randomUUID } from "node:crypto";
import type { KyselyPlugin } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ClaimGranted } from "../../../services/contract/claiming.ts";
import type { BriefAnswer } from "../../../services/contract/contexts.ts";
import { BRIEF_SIZE_MAX_BYTES, BRIEF_SIZE_MIN_BYTES } from "../../../services/contract/limits.ts";
import { answerTokens } from "../../support/answer-tokens.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { plantEdge, plantItem } from "../../support/fixtures.ts";
import { agent, granted } from "../claims/calls.ts";
import { noteSpec, schemaOfType, write } from "../notes/notebook.ts";

describeEachDatabase("a brief", (database) => {
  let engine: TestEngine;
  let statements = 0;
  const counter: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: ({ result }) => {
      statements += 1;
      return Promise.resolve(result);
    },
  };
  const schemas = schemaOfType("feature", {
    notes: [
      noteSpec("plan", "queue", {
        description: "How to do it",
        guidance: "Name the files.",
        skill: "planning",
      }),
      noteSpec("report", "work"),
    ],
  });
  beforeAll(() => {
    engine = createTestEngine({ db: database().db.withPlugin(counter) }, { schemas });
  });
  afterAll(() => engine.close());

  const plant = (item: Parameters<typeof plantItem>[1]) => plantItem(database().db, item);
  const brief = async (itemId: string, more: object = {}) =>
    (await engine.call("get_context", { mode: "brief", itemId, ...more })) as BriefAnswer;

  /** An item with something in every section. */
  async function busyItem(notes: number, more: Parameters<typeof plantItem>[1] = {}): Promise<string> {
    const root = await plant({ title: "Compiler", summary: "One pass." });
    const parentId = await plant({ parentId: root, title: "Front end" });
    const id = await plant({
      parentId,
      title: "Write the parser",
      type: "feature",
      description: "From tokens to a tree.",
      summary: "Short.",
      ...more,
    });
    await plant({ parentId, title: "Write the lexer" });
    await plantEdge(database().db, await plant({ title: "Choose a grammar", role: "terminal" }), id);
    await plantEdge(database().db, id, await plant({ title: "Write the printer" }));
    for (let n = 0; n < notes; n += 1)
      await write(engine, { itemId: id, key: `n${n}`, body: `thought ${n} `.repeat(20) });
    return id;
  }

  it("has the item, its gate, guidance, notes, parents, blockers, neighbours and what the last attempt ran into", async () => {
    const itemId = await busyItem(2, { role: "work" });
    const ann = agent("ann");
    const { fence } = await granted(engine, ann, { itemId });
    await engine.call("advance_item", {
      actor: { id: "ann", kind: "subagent" },
      workerId: ann.workerId,
      transitions: [{ itemId, trigger: "fail", fence, reason: "the grammar is ambiguous" }],
    });
    expect(await brief(itemId)).toMatchObject({
      mode: "brief",
      item: {
        id: itemId,
        title: "Write the parser",
        role: "queue",
        summary: "Short.",
        version: expect.any(Number) as unknown,
      },
      gate: {
        phase: "queue",
        complete: false,
        missing: [
          { key: "plan", description: "How to do it", guidance: "Name the files.", skill: "planning" },
        ],
      },
      description: "From tokens to a tree.",
      parents: [{ title: "Front end" }, { title: "Compiler", summary: "One pass." }],
      blockers: [{ title: "Choose a grammar", role: "terminal", satisfied: true }],
      lastAttempt: { endReason: "failed", detail: "the grammar is ambiguous" },
      notes: [{ key: "n0" }, { key: "n1" }],
      related: [{ title: "Write the printer", relation: "blocks" }],
      siblings: [{ title: "Write the lexer" }],
      omitted: [],
      trust: { origin: "others", mayContainInstructions: true, executable: false },
    });
    await write(engine, { itemId, key: "plan", body: "Top down." });
    expect((await brief(itemId)).gate).toEqual({ phase: "queue", complete: true, missing: [] });
  });

  it("needs at most five statements for an item with fifty notes", async () => {
    const itemId = await busyItem(50);
    statements = 0;
    const { notes } = await brief(itemId);
    expect(notes).toHaveLength(50);
    expect(statements).toBeLessThanOrEqual(5);
  });

  it("is well-formed at the smallest budget: the item is there, and what is not is named with the call that fetches it [P-40] [F-32]", async () => {
    const itemId = await busyItem(20, { title: "漢".repeat(500) });
    const shown = await brief(itemId, { budgetBytes: BRIEF_SIZE_MIN_BYTES });
    expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThanOrEqual(BRIEF_SIZE_MIN_BYTES);
    expect(shown.item).toMatchObject({ id: itemId, role: "queue" });
    const omitted = shown.omitted.map(({ section }) => section);
    expect(omitted).toContain("notes");
    for (const one of shown.omitted) {
      expect(one.fetch).not.toBe("");
      expect(one.entries).toBeGreaterThan(0);
      expect(one.bytes).toBeGreaterThan(0);
    }
  });

  it("keeps every budget, and leaves sections out from the last to the first", async () => {
    const itemId = await busyItem(20);
    await engine.call("manage_items", {
      operation: "update",
      items: [{ itemId, description: "漢\n".repeat(20_000) }],
    });
    for (const budgetBytes of [BRIEF_SIZE_MIN_BYTES, 3_000, 5_000, 9_000, 24_000, BRIEF_SIZE_MAX_BYTES]) {
      const shown = await brief(itemId, { budgetBytes });
      expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThanOrEqual(budgetBytes);
    }
    const small = await brief(itemId, { budgetBytes: 4_000 });
    expect(small.gate).toBeDefined();
    expect(small.activity).toBeUndefined();
  });

  it("never fills the context of a model", async () => {
    const itemId = await busyItem(5);
    expect(
      await answerTokens(engine, "get_context", { mode: "brief", itemId, budgetBytes: BRIEF_SIZE_MAX_BYTES }),
    ).toBeLessThan(25_000);
  });

  it("refuses a mode that there is not, with those that there are [P-40]", async () => {
    await expect(brief(randomUUID(), { mode: "plan" })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringContaining("session-resume") as unknown,
    });
  });

  it("says what does not exist, and takes a prefix of an id", async () => {
    await expect(brief(randomUUID())).rejects.toMatchObject({ code: "RESOURCE_NOT_FOUND" });
    const itemId = await busyItem(0);
    expect((await brief(itemId.replaceAll("-", "").slice(0, 20))).item.id).toBe(itemId);
  });

  it("comes with a claim, and with the claim that follows a transition", async () => {
    const first = await plant({ title: "first", type: "feature", tags: ["briefed"] });
    const ann = agent("ann");
    const claimed = await granted(engine, ann, { itemId: first, include: "brief" });
    expect(claimed.brief).toMatchObject({ item: { id: first }, gate: { missing: [{ key: "plan" }] } });
    expect((await granted(engine, ann, { itemId: first })).brief).toBeUndefined();
    const second = await plant({ title: "second", tags: ["briefed"], description: "Do it." });
    const call = {
      actor: { id: "ann", kind: "subagent" },
      workerId: ann.workerId,
      requestId: randomUUID(),
      transitions: [{ itemId: first, trigger: "cancel", fence: claimed.fence }],
      claimNext: { selector: { tags: "briefed" }, include: "brief" },
    };
    const { next } = (await engine.call("advance_item", call)) as { next: ClaimGranted };
    expect(next).toMatchObject({ outcome: "success", itemId: second, brief: { description: "Do it." } });
    const again = (await engine.call("advance_item", call)) as { next: ClaimGranted };
    expect(again.next).toMatchObject({ replayed: true, brief: { item: { id: second } } });
  });
});
